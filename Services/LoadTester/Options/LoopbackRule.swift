import ArgumentParser
import FoundationEssentials

/// Keeps a load from going where it was not meant to go.
enum LoopbackRule {
    private static let hosts = ["127.0.0.1", "localhost", "::1", "[::1]"]

    /// - Throws: `ValidationError` for an address of another machine, unless that is allowed.
    static func check(_ address: String, isRemoteAllowed: Bool) throws {
        guard !isRemoteAllowed, !address.hasPrefix("ipc://") else { return }
        guard let host = URL(string: address)?.host(), hosts.contains(host.lowercased()) else {
            throw ValidationError("\(address) is not on this machine; --allow-remote sends a load there all the same")
        }
    }
}
