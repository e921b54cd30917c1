import Testing

@testable import Store

@Suite("MongoDB connection strings")
struct MongoURLTests {
    @Test("The path names the database, which is msi by default")
    func database() throws {
        #expect(try MongoURL("mongodb://localhost").database == "msi")
        #expect(try MongoURL("mongodb://a:1,b:2/campus?replicaSet=rs").database == "campus")
        #expect(try MongoURL("mongodb+srv://cluster.example.edu/x").database == "x")
    }

    @Test("A description shows the servers and the database, and neither user nor password")
    func description() throws {
        let url = try MongoURL("mongodb://ann:s3cret@a:1,b:2/campus?authSource=admin&tlsCertificateKeyFilePassword=s3cret2")
        for text in [
            "\(url)", String(reflecting: url), String(describing: [url]), "\(Mirror(reflecting: url).children.map { $0 })",
        ] {
            #expect(!text.contains("s3cret") && !text.contains("ann"), "\(text)")
        }
        #expect("\(url)" == "mongodb://a:1,b:2/campus")
        let srv = try MongoURL("mongodb+srv://ann:s3cret@cluster.example.edu")
        #expect("\(srv)" == "mongodb+srv://cluster.example.edu/msi")
    }

    @Test(
        "An unusable connection string is refused with the reason",
        arguments: [
            ("", "expected mongodb://"), ("localhost:27017", "expected mongodb://"),
            ("postgres://localhost/x", "expected mongodb://"),
            ("mongodb://", "host"), ("mongodb://localhost/?tls=perhaps", "tls"), ("mongodb://localhost/?tlss=true", "tlss"),
            ("mongodb://localhost/?socketTimeoutMS=soon", "sockettimeoutms"),
            ("mongodb://localhost/?w=0", "w must not be 0"), ("mongodb+srv://one.example.edu,two.example.edu/", "srv"),
        ])
    func refused(text: String, reason: String) {
        #expect {
            try MongoURL(text)
        } throws: { error in
            let error = error as? MongoError
            return error?.code == .badURL && error?.message.lowercased().contains(reason) == true
        }
    }

    @Test(
        "No error contains any part of the password",
        arguments: [
            "mongodb://ann:S3cret/word@localhost/x", "mongodb://ann:S3cret@word@localhost/x",
            "mongodb://ann:S3cret%word@localhost/x",
            "mongodb://ann:S3cret:word@localhost/x", "mongodb://ann:S3cret?word@localhost/x",
            "mongodb://ann:S3cret#word@localhost/x",
            "mongodb://ann:S3cret@localhost:port/x", "mongodb://ann:S3cret@localhost/x?tls=perhaps",
            "mongodb://ann:S3cret@localhost/?tlsCertificateKeyFilePassword=S3cret&tls=perhaps", "ann:S3cret@localhost",
            "mongodb://h/x?tlsCertificateKeyFilePassword=ab@S3cret",
            "mongodb://h/x?tlsCertificateKeyFilePassword=ab@S3cret&tls=perhaps", "mongodb://h?tls=perhaps&x=ab@S3cret",
            "mongodb://ann:ab@x/S3cret@localhost/x", "mongodb://h/x?tlsCertificateKeyFilePassword=a/b@S3cret",
            "mongodb://ann:S3cret@", "mongodb://localhost/?authMechanismProperties=AWS_SESSION_TOKEN:S3cret&w=S3cret&tls=perhaps",
        ])
    func secrets(text: String) {
        do {
            // libmongoc may accept the text.
            let url = try MongoURL(text)
            #expect(!"\(url)".contains("S3cret"))
        } catch {
            #expect(error.code == .badURL)
            #expect(!"\(error)".contains("S3cret") && !"\(error)".contains("word@"), "\(error)")
        }
    }
}
