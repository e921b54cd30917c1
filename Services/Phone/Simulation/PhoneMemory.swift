import DurableFiles
import FoundationEssentials
import JSON
import Synchronization

/// The phone's storage: the app's database, and beside it a file with what the operating system keeps.
final class PhoneMemory: Sendable {
    /// What the operating system keeps over a restart.
    struct System: Codable, Hashable, Sendable {
        /// The registration at FCM; `nil` before the first one.
        var token: String?
        var control = PhoneControl()
        var permission: Permission?
        /// The registrations of former phones, which are to be ended.
        var formerTokens: [String]?
        /// Whether the app's database is still that of a former phone.
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

    /// - Throws: An error of the file system, or of a file that is none of the phone's.
    init(folder: String, name: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        databasePath = "\(folder)/\(name).sqlite"
        let path = "\(folder)/\(name).json"
        self.path = path
        let kept = FileManager.default.contents(atPath: path)
        state = Mutex(try kept.map { try JSONCoder.decode(System.self, from: $0) } ?? System())
    }

    /// A phone that is only in memory.
    init() {
        (databasePath, path) = (nil, nil)
        state = Mutex(System())
    }

    var system: System { state.withLock(\.self) }

    /// Changes what is kept, and writes it.
    ///
    /// - Throws: ``DurableFileFailure``.
    func change<Result>(_ body: (inout System) -> Result) throws -> Result {
        try state.withLock { state in
            var changed = state
            let result = body(&changed)
            if changed != state {
                if let path { try DurableFiles.replace(path, String(decoding: try JSONCoder.encode(changed), as: UTF8.self)) }
                state = changed
            }
            return result
        }
    }
}
