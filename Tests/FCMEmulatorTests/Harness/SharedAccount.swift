import Foundation
import Synchronization

@testable import FCMEmulator

/// A service account that many tests share, because its key takes a good part of a second to make without optimisation.
enum SharedAccount {
    private static let file = Mutex<[UInt8]?>(nil)

    /// Puts the account's file where an emulator will look for it, unless there is one.
    static func place(in folder: TemporaryFolder) throws {
        let state = try StateFolder(path: folder.emulator)
        if try state.read(ServiceAccount.file) == nil {
            try state.write(try content(), to: ServiceAccount.file, mode: 0o600)
        }
    }

    private static func content() throws -> [UInt8] {
        try file.withLock { file in
            if let file { return file }
            let folder = NSTemporaryDirectory() + "/msi-account-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let state = try StateFolder(path: folder)
            try ServiceAccount(in: state).listen(on: 1)
            let content = try state.read(ServiceAccount.file) ?? []
            file = content
            return content
        }
    }
}
