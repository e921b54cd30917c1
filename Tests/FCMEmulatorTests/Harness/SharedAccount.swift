@testable import FCMEmulator
import Foundation
import NIOHTTP1
import Synchronization
import TestSupport

/// A service account that many tests share, because making its key takes nearly a second in a debug build.
enum SharedAccount {
    private static let file = Mutex<[UInt8]?>(nil)

    /// Copies the account's file into an emulator's folder, unless there is one.
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

extension ServiceAccountHolder {
    /// The holder of the key file that an emulator has written.
    init(in folder: TemporaryFolder) throws {
        try self.init(file: "\(folder.emulator)/service-account.json")
    }

    /// A good access token.
    func accessToken(from client: EmulatorClient) async throws -> String {
        let answer = try await client.requestToken(assertion: try await sign(claims))
        return answer.object["access_token"] as? String ?? ""
    }
}

extension EmulatorClient {
    func requestToken(
        assertion: String?, grantType: String? = ServiceAccountHolder.grantType
    ) async throws -> HTTPAnswer {
        try await call(
            .POST, "/token", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(ServiceAccountHolder.form(assertion: assertion, grantType: grantType).utf8))
    }
}
