import Bus
import FoundationEssentials
import Schemas
import Synchronization
import TestSupport

/// The other services with data of persons, in a test: they erase persons, or refuse to.
final class ErasureDouble: Sendable {
    /// In the order in which they are asked.
    static let services = ["study", "message-log"]

    private struct Case: Hashable {
        let service: String
        let account: AccountName
    }

    private let done = Mutex<[Case]>([])
    private let failures = Mutex<[Case: CommandFailure]>([:])

    /// Whom the message log has erased, in order.
    var erased: [AccountName] { erased(by: "message-log") }

    /// Whom a service has erased, in order.
    func erased(by service: String) -> [AccountName] {
        done.withLock { done in done.filter { $0.service == service }.map(\.account) }
    }

    /// Answers with a failure instead of erasing a person; `nil` erases again.
    func fail(_ failure: CommandFailure?, for account: AccountName, by services: [String] = ErasureDouble.services) {
        failures.withLock { failures in
            for service in services { failures[Case(service: service, account: account)] = failure }
        }
    }

    /// Runs them at the endpoints that the people service in the same folder uses.
    func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            let running = try Self.services.map { service in
                let server = try CommandServer(
                    bus: bus, endpoint: "ipc://\(folder)/run/\(service).sock", router: router(of: service), logger: quietLogger)
                return Task { try await server.run() }
            }
            defer {
                for task in running { task.cancel() }
            }
            return try await body()
        }
    }

    private func router(of service: String) -> CommandRouter {
        var router = CommandRouter()
        router.on(ErasePerson.self) { [self] command, _ in
            let erasure = Case(service: service, account: command.account)
            if let failure = failures.withLock({ $0[erasure] }) { throw failure }
            done.withLock { $0.append(erasure) }
            return service == "study"
                ? ErasePerson.Reply(removed: [ErasedData(what: "memberships", count: 3)], stays: ["numbers"])
                : ErasePerson.Reply(removed: [ErasedData(what: "pushes", count: 2)], stays: ["sent pushes"])
        }
        return router
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
