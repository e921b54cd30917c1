import Schemas
import TestSupport
import Testing

/// Stored resources over HTTP and over the bus, on both databases.
/// The tests run one after another: the database server has a single thread for everything that they start.
@Suite("Resources", .serialized, .timeLimit(.minutes(10)))
struct ResourceTests {
    private static let shelf = #"{"name":"History","desc":""}"#

    @Test("A document is added, read, updated, listed and deleted", arguments: StoreKind.ofRules)
    func life(_ kind: StoreKind) async throws {
        try await ResourceService.with(kind) { service in
            let shelf = try await service.add("/shelf", Self.shelf)
            let answer = try await service.request("POST", "/shelf/\(shelf.id)/book", #"{"title":"Rome"}"#)
            let book = try #require(answer.object["_id"] as? String)
            #expect(answer["location"] == "/book/\(book)" && answer["etag"] == #""v1""#)

            let updated = try await service.request("PUT", "/book/\(book)", #"{"title":"Athens"}"#)
            #expect(updated.status == 200 && updated["etag"] == #""v2""#)
            let found = try await service.request("GET", "/book/\(book)")
            #expect(found.object["title"] as? String == "Athens" && found.object["shelf"] as? String == shelf.id)
            let known = try await service.request("GET", "/book/\(book)", headers: ["If-None-Match": #""v2""#])
            #expect(known.status == 304 && known.body.isEmpty)

            #expect(try await service.request("GET", "/shelf").object["items"] as? [[String: Any]] != nil)
            #expect(try await service.request("DELETE", "/book/\(book)").status == 204)
            for method in ["GET", "DELETE"] {
                #expect(try await service.request(method, "/book/\(book)").problem == "not-found")
            }
            #expect(try await service.request("PUT", "/book/\(book)", #"{"title":"Rome"}"#).problem == "not-found")
        }
    }

    @Test("An update and a deletion are refused if the document was changed since it was read", arguments: StoreKind.ofRules)
    func late(_ kind: StoreKind) async throws {
        try await ResourceService.with(kind) { service in
            let shelf = try await service.add("/shelf", Self.shelf)
            let late = ["If-Match": shelf.tag]
            #expect(try await service.request("PUT", "/shelf/\(shelf.id)", Self.shelf, headers: late).status == 200)
            let changed = #"{"name":"Science","desc":""}"#
            #expect(try await service.request("PUT", "/shelf/\(shelf.id)", changed, headers: late)["etag"] == #""v2""#)
            #expect(try await service.request("PUT", "/shelf/\(shelf.id)", Self.shelf, headers: late).status == 412)
            #expect(try await service.request("DELETE", "/shelf/\(shelf.id)", headers: late).status == 412)
            let found = try await service.request("GET", "/shelf/\(shelf.id)")
            #expect(found.object["name"] as? String == "Science")
        }
    }

    @Test("The rules of a resource hold in the transaction of the change", arguments: StoreKind.allCases)
    func rules(_ kind: StoreKind) async throws {
        try await ResourceService.with(kind) { service in
            let shelf = try await service.add("/shelf", Self.shelf)
            let books = "/shelf/\(shelf.id)/book"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 { group.addTask { _ = try await service.add(books, #"{"title":"B\#(number)"}"#) } }
                try await group.waitForAll()
            }
            #expect(try await service.request("POST", books, #"{"title":"B0"}"#).status == 409)
            let unknown = "/shelf/\(ObjectID())"
            #expect(try await service.request("POST", unknown + "/book", #"{"title":"B"}"#).status == 404)
            #expect(try await service.request("POST", unknown + "/label", #"{"name":"B","desc":""}"#).problem == "not-found")
            #expect(try await service.request("GET", unknown + "/label").problem == "not-found")
            #expect(try await service.request("DELETE", "/shelf/\(shelf.id)").status == 409)
            #expect(try await service.request("GET", "/shelf/\(shelf.id)").object["books"] as? Int == 8)
        }
    }

    @Test("A list has the documents of one parent, page by page, and each page leads to the next", arguments: StoreKind.ofRules)
    func pages(_ kind: StoreKind) async throws {
        try await ResourceService.with(kind) { service in
            let shelf = try await service.add("/shelf", Self.shelf).id
            let other = try await service.add("/shelf", Self.shelf).id
            for title in ["C", "A", "E", "B", "D"] {
                _ = try await service.add("/shelf/\(shelf)/book", #"{"title":"\#(title)"}"#)
            }
            _ = try await service.add("/shelf/\(other)/book", #"{"title":"F"}"#)
            var titles: [[String]] = []
            var next: String? = "/shelf/\(shelf)/book?limit=2"
            while let target = next {
                let page = try await service.request("GET", target)
                let items = try #require(page.object["items"] as? [[String: Any]])
                titles.append(items.compactMap { $0["title"] as? String })
                next = page.object["next"] as? String
                #expect(page["link"] == next.map { "<\($0)>; rel=\"next\"" })
            }
            #expect(titles == [["A", "B"], ["C", "D"], ["E"]])
            for query in ["limit=0", "limit=201", "after=x", "before=x"] {
                #expect(try await service.request("GET", "/shelf/\(shelf)/book?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test("A command names the parent of a resource that has one, and no other fields")
    func strictness() async throws {
        try await ResourceService.with(.sqlite) { service in
            let id = ObjectID()
            for (command, payload, field) in [
                ("book.add", #"{"draft":{"title":"B"}}"#, "parent"),
                ("book.add", #"{"draft":{"title":""},"parent":"\#(id)"}"#, "draft.title"),
                ("book.list", #"{"limit":1}"#, "parent"),
                ("book.list", #"{"limit":201,"parent":"\#(id)"}"#, "limit"),
                ("book.get", #"{"_id":"\#(id)"}"#, "_id"),
                ("shelf.add", #"{"draft":\#(Self.shelf),"parent":"\#(id)"}"#, "parent"),
                ("shelf.list", #"{"limit":1,"parent":"\#(id)"}"#, "parent"),
            ] {
                let failure = await service.client.failure(of: command, payload)
                #expect(failure?.status == .invalid && failure?.field == field, "\(command) \(payload): \(failure as Any)")
            }
        }
    }
}
