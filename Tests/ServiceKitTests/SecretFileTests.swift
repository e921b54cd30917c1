import FoundationEssentials
import ServiceKit
import TestSupport
import Testing

/// `MSI_DATABASE_URL` from a file, as with systemd's credentials.
@Suite("Secrets in files")
struct SecretFileTests {
    private static let url = "mongodb://ann:s3cret@localhost/campus"

    private func values(_ environment: [String: String], _ arguments: [String] = []) async throws -> SettingValues {
        try await SettingValues(
            arguments: arguments, environment: environment,
            accepted: SettingDeclaration.common + ServiceEntry.cube.settings)
    }

    @Test("The file holds the value; one line end after it is not part of it", arguments: ["", "\n", "\r\n"])
    func contents(lineEnd: String) async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/url"
            try Data((Self.url + lineEnd).utf8).write(to: URL(filePath: file))
            #expect(try await values(["MSI_DATABASE_URL_FILE": file]).value(.databaseURL) == Self.url)
            #expect(try await values([:], ["--database-url-file", file]).value(.databaseURL) == Self.url)
            #expect(try await values(["HOME": folder, "MSI_DATABASE_URL_FILE": "~/url"]).value(.databaseURL) == Self.url)
            let settings = folder + "/settings"
            try Data("MSI_DATABASE_URL_FILE=\(file)\n".utf8).write(to: URL(filePath: settings))
            #expect(try await values(["MSI_CONFIG_FILE": settings]).value(.databaseURL) == Self.url)
        }
    }

    @Test("The value and a file for it together are refused")
    func both() async throws {
        let values = try await values(["MSI_DATABASE_URL": Self.url, "MSI_DATABASE_URL_FILE": "/nowhere"])
        let problem = "MSI_DATABASE_URL and MSI_DATABASE_URL_FILE are both set; set one of them alone"
        #expect { try values.optional(.databaseURL) } throws: { "\($0)" == problem }
    }

    @Test("A file that cannot be read, or holds something else, is named, and nothing of it is shown")
    func unreadable() async throws {
        struct Unreadable: Error {}
        try await withTemporaryFolder { folder in
            let file = folder + "/url"
            let values = try await values(["MSI_DATABASE_URL_FILE": file])
            func problem(_ bytes: Data?) throws -> String {
                if let bytes { try bytes.write(to: URL(filePath: file)) }
                do {
                    _ = try values.optional(.databaseURL) { _ in throw Unreadable() }
                    return ""
                } catch {
                    return "\(error)"
                }
            }
            #expect(try problem(nil) == "MSI_DATABASE_URL_FILE: \(file) cannot be read: No such file or directory")
            #expect(try problem(Data("s3cret".utf8) + [0xFF]) == "MSI_DATABASE_URL_FILE: \(file) is not UTF-8 text")
            #expect(try problem(Data("\n".utf8)).hasSuffix("found something else"))
            #expect(try problem(Data(repeating: 0x73, count: 2 << 20)).hasSuffix("has more than 1048576 bytes"))
            #expect(try problem(Data(Self.url.utf8)) == "MSI_DATABASE_URL_FILE: Unreadable()")
        }
    }

    @Test("A file that other users can read is a warning")
    func mode() async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/url"
            try Data(Self.url.utf8).write(to: URL(filePath: file))
            for (mode, isWarning) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
                let warnings = try await values(["MSI_DATABASE_URL_FILE": file]).warnings
                #expect(warnings.contains { $0.contains(file) && $0.contains("mode") } == isWarning, "\(warnings)")
            }
        }
    }
}
