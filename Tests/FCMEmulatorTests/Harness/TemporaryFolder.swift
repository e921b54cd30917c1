import Foundation

/// A folder of a test's own, removed at its end.
struct TemporaryFolder {
    let path: String

    /// Where the emulator keeps its files when this is its state directory.
    var emulator: String { "\(path)/fcm-emulator" }

    static func with<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (TemporaryFolder) async throws -> Result
    ) async throws -> Result {
        let folder = TemporaryFolder(path: NSTemporaryDirectory() + "/msi-emulator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        return try await body(folder)
    }

    func text(of file: String) throws -> String {
        try String(contentsOfFile: "\(emulator)/\(file)", encoding: .utf8)
    }

    func write(_ text: String, to file: String) throws {
        try text.write(toFile: "\(emulator)/\(file)", atomically: true, encoding: .utf8)
    }

    /// A file's permission bits.
    func mode(of file: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(emulator)/\(file)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
