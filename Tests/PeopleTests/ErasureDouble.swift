import Bus
import FoundationEssentials
import Schemas
import Synchronization
import TestSupport

/// A message log of a test that erases persons, or refuses to.
final class ErasureDouble: Sendable {
    private let done = Mutex<[AccountName]>([])
    private let failures = Mutex<[AccountName: CommandFailure]>([:])

    /// Whom it has erased, in order.
    var erased: [AccountName] { done.withLock(\.self) }

    /// Answers with a failure instead of erasing a person; `nil` erases again.
    func fail(_ failure: CommandFailure?, for account: AccountName) { failures.withLock { $0[account] = failure } }

    /// Runs it at the endpoint that the people service in the same folder uses.
    func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter()
            router.on(ErasePerson.self) { command, _ in
                if let failure = self.failures.withLock({ $0[command.account] }) { throw failure }
                self.done.withLock { $0.append(command.account) }
                return ErasePerson.Reply(removed: [ErasedData(what: "pushes", count: 2)], stays: ["sent pushes"])
            }
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/message-log.sock", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }
}

extension RunningPeople {
    /// The erasures that wait, and those that are finished.
    func erasures() async throws(CommandFailure) -> ListErasures.Reply { try await client.request(ListErasures()) }

    /// Waits until all erasures are finished.
    @discardableResult
    func finishedErasures(_ count: Int = 1) async throws -> [ErasureReport] {
        try await eventually("\(count) finished erasures") {
            let erasures = try await erasures()
            return erasures.waiting.isEmpty && erasures.finished.count == count ? erasures.finished : nil
        }
    }
}

/// The names of the files of the accounts' store that contain a text.
func peopleFiles(in folder: String, with text: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("people.sqlite") }.filter { name in
        try Data(contentsOf: URL(filePath: folder + "/" + name)).firstRange(of: Data(text.utf8)) != nil
    }
}
