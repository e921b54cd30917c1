import ArgumentParser
import FoundationEssentials

/// Prevents a load on another machine by mistake.
enum LoopbackRule {
    private static let hosts = ["127.0.0.1", "localhost", "::1", "[::1]"]

    /// - Throws: `ValidationError` if the text is no address, or the address of another machine without `--allow-remote`.
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
