import FoundationEssentials

/// Runs a test with a folder of its own, which is empty at first and gone afterwards.
package func withTemporaryFolder<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
) async throws -> Result {
    // Short: the path of a Unix socket may have 107 bytes in all.
    let folder = "/tmp/msi-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
