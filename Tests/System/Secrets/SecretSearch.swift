import Foundation
import Synchronization
import TestSupport

/// The secrets of a test, and the search for them in everything that the product shows.
final class SecretSearch: Sendable {
    /// A secret that was found, and where. The secret itself is not shown.
    struct Leak: Hashable, CustomStringConvertible {
        let secret: String
        let place: String

        var description: String { "\(secret) is in \(place)" }
    }

    private let secrets = Mutex<[String: String]>([:])
    /// Texts to search, by place.
    private let shown = Mutex<[String: Set<Data>]>([:])

    /// Remembers a secret.
    ///
    /// - Parameter name: What the test calls it.
    @discardableResult
    func keep(_ secret: String, as name: String) -> String {
        precondition(secret.utf8.count >= 8, "\(name) is so short that it could occur by chance")
        secrets.withLock { $0[name] = secret }
        return secret
    }

    /// A secret that was kept.
    func text(of name: String) -> String { secrets.withLock { $0[name] ?? "" } }

    var names: [String] { secrets.withLock { $0.keys.sorted() } }

    /// Remembers something that the product has shown. It is searched later, even for secrets that are not known yet.
    func show(_ data: Data, at place: String) {
        _ = shown.withLock { $0[place, default: []].insert(data) }
    }

    /// The secrets in everything that the product has shown.
    var leaks: Set<Leak> {
        let secrets = secrets.withLock(\.self)
        return shown.withLock(\.self).reduce(into: []) { leaks, part in
            for (name, secret) in secrets where part.value.contains(where: { $0.range(of: Data(secret.utf8)) != nil }) {
                leaks.insert(Leak(secret: name, place: part.key))
            }
        }
    }

    /// Shows the command lines and the environments of the product's running processes.
    func showProcesses() {
        for entry in ProcessTable.all where entry.name == "msi" || entry.name.hasPrefix("msi-") {
            for file in ["cmdline", "environ"] {
                guard let data = FileManager.default.contents(atPath: "/proc/\(entry.id)/\(file)") else { continue }
                show(data, at: "\(file) of \(entry.name)")
            }
        }
    }

    /// Shows a folder's files by their paths in it.
    ///
    /// - Parameter prefix: Before the paths.
    func showFiles(in folder: String, as prefix: String = "") throws {
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            // Sockets have no content, and files may vanish.
            guard let data = FileManager.default.contents(atPath: folder + "/" + path) else { continue }
            show(data, at: prefix + path)
        }
    }
}
