import ArgumentParser
import FoundationEssentials

/// Keeps a load from going where it was not meant to go.
enum LoopbackRule {
    private static let hosts = ["127.0.0.1", "localhost", "::1", "[::1]"]

    /// - Throws: `ValidationError` for what is no address, and for one of another machine unless that is allowed.
    static func check(_ address: String, isRemoteAllowed: Bool) throws {
        guard !address.hasPrefix("ipc://") else { return }
        guard let host = URL(string: address)?.host(), !host.isEmpty else {
            throw ValidationError("\(address) is no address: expected ipc://<path>, or one such as tcp://127.0.0.1:5555")
        }
        guard isRemoteAllowed || hosts.contains(host.lowercased()) else {
            throw ValidationError("\(address) is not on this machine; --allow-remote sends a load there all the same")
        }
    }
}
