import Base
import FoundationEssentials
import Synchronization

/// The phone's storage: the app's database, and a file with the operating system's data.
final class PhoneMemory: Sendable {
    /// The operating system's data, which survives a restart.
    struct System: NumberedFile, Hashable, Sendable {
        static let formats = FormatVersions(written: 1, readable: 1...1)

        /// The registration at FCM; `nil` before the first one.
        var token: String?
        var control = PhoneControl()
        var permission: Permission?
        /// The private key of the app's ``PhoneSecretStore``, in URL-safe Base64; `nil` before the first sign-in.
        var key: String?
        /// The registrations of earlier phones, which must still be ended.
        var formerTokens: [String]?
        /// Whether the app's database still has an earlier phone's data.
        var hasFormerData: Bool?
    }

    /// The answer to the question whether the app may show pop-ups.
    enum Permission: String, Codable, Sendable {
        case granted, denied
    }

    /// `nil` for a phone that is only in memory.
    let databasePath: String?
    private let path: String?
    private let state: Mutex<System>

    /// - Throws: An error of the file system, or a decoding error if the file is not a phone's.
    init(folder: String, name: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        databasePath = "\(folder)/\(name).sqlite"
        let path = "\(folder)/\(name).json"
        self.path = path
        let kept = FileManager.default.contents(atPath: path)
        state = Mutex(try kept.map { try System.read($0, from: path) } ?? System())
    }

    /// A phone that is only in memory.
    init() {
        (databasePath, path) = (nil, nil)
        state = Mutex(System())
    }

    var system: System { state.withLock(\.self) }

    /// Changes the operating system's data, and writes it.
    ///
    /// - Throws: ``DurableFileFailure``.
    func change<Result>(_ body: (inout System) -> Result) throws -> Result {
        try state.withLock { state in
            var changed = state
            let result = body(&changed)
            if changed != state {
                if let path { try DurableFiles.replace(path, String(decoding: try changed.encoded(), as: UTF8.self)) }
                state = changed
            }
            return result
        }
    }
}
