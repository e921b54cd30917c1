import FoundationEssentials
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Operator

/// What `msi up` makes of the token's file, with a people service that has accounts or none.
@Suite("First start")
struct FirstStartTests {
    /// Runs a start as that of `msi up`.
    ///
    /// - Returns: What it prints.
    private func start(in folder: String) async throws -> String {
        let said = Mutex<[String]>([])
        let settings = try await SettingValues(arguments: [], environment: ["MSI_STATE_DIR": folder], accepted: [])
        try await ServiceClient.with(["ipc://\(folder)/run/people.sock"], settings) { people in
            let start = FirstStart(stateDirectory: folder, isTerminal: false) { line in said.withLock { $0.append(line) } }
            try await start.run(people)
        }
        return said.withLock { $0.joined(separator: "\n") }
    }

    @Test("If there are accounts but no token that can be used, a start says what to do; a valid token needs no words")
    func token() async throws {
        try await withTemporaryFolder { folder in
            try await TestOperator.prepare(folder)
            try await withService("msi-people", in: folder) { _ in
                let file = URL(filePath: folder + "/token")
                #expect(try await start(in: folder) == "")
                try FileManager.default.removeItem(at: file)
                #expect(try await start(in: folder).contains("there is no token in \(folder)/token, but there are accounts"))
                try Data().write(to: file)
                #expect(try await start(in: folder) == "\(folder)/token is empty. For a new token: msi account token")
                try Data("msi_\(String(repeating: "a", count: 43))\n".utf8).write(to: file)
                let foreign = try await start(in: folder)
                #expect(foreign.contains("is not valid any more. For a new one: msi account token"), "\(foreign)")
            }
        }
    }
}
