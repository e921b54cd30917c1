import Base
import Bus
import Schemas
import Synchronization
import TestSupport

@testable import MessageLog

/// A people service on the bus that knows the devices of a test. It records what it is asked.
final class PeopleDouble: Sendable {
    private struct State {
        var devices: [ReachedDevice]
        var questions: [ResolveDevices] = []
        var reports: [EndDevicePushes] = []
        var failure: CommandFailure?
        /// What it does before it names devices.
        var wait: @Sendable () async -> Void = {}
    }

    private let state: Mutex<State>
    private let refuseReport: @Sendable () -> Bool

    /// - Parameter refuseReport: Whether it does not answer the next report.
    init(_ devices: [ReachedDevice], refuseReport: @escaping @Sendable () -> Bool = { false }) {
        state = Mutex(State(devices: devices))
        self.refuseReport = refuseReport
    }

    /// What it was asked, in order.
    var questions: [ResolveDevices] { state.withLock(\.questions) }
    /// The reports that it has answered.
    var reports: [EndDevicePushes] { state.withLock(\.reports) }

    /// Changes the devices that it knows.
    func change(_ change: (inout [ReachedDevice]) -> Void) { state.withLock { change(&$0.devices) } }

    /// Its answer from now on; `nil` if it knows the command.
    func fail(_ failure: CommandFailure?) { state.withLock { $0.failure = failure } }

    /// - Parameter wait: What it does before each answer from now on.
    func wait(_ wait: @escaping @Sendable () async -> Void) { state.withLock { $0.wait = wait } }

    /// Runs it at the endpoint that the message log in the same folder uses.
    func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter()
            router.on(ResolveDevices.self) { command, _ in
                let (failure, wait) = self.state.withLock { state in
                    state.questions.append(command)
                    return (state.failure, state.wait)
                }
                if let failure { throw failure }
                await wait()
                return ResolveDevices.Reply(devices: self.devices(for: command))
            }
            router.on(EndDevicePushes.self) { command, _ in
                guard !self.refuseReport() else { throw CommandFailure(.unavailable, "the store does not answer") }
                self.state.withLock { state in
                    state.reports.append(command)
                    state.devices.removeAll { device in
                        command.devices.contains { $0.device == device.device && $0.registered == device.registered }
                    }
                }
                return Done()
            }
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/people.sock", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }

    private func devices(for command: ResolveDevices) -> [ReachedDevice] {
        state.withLock { state in
            state.devices.filter { device in
                device.device != command.except
                    && (command.accounts.contains(device.account) || command.devices.contains(device.device))
            }
        }
    }
}

/// The people service is not there.
struct AbsentPersonDirectory: PersonDirectory {
    func devices(_ command: ResolveDevices) async throws(CommandFailure) -> [ReachedDevice] {
        throw CommandFailure(.unavailable, "no people service")
    }

    func report(_ command: EndDevicePushes) async throws(CommandFailure) {
        throw CommandFailure(.unavailable, "no people service")
    }
}

extension ReachedDevice {
    static func phone(of account: AccountName, _ address: String, language: String? = "en") -> ReachedDevice {
        ReachedDevice(
            device: ObjectID(), account: account, transport: .fcm, address: Secret(address), registered: 5, language: language)
    }

    static func browser(of account: AccountName, _ address: String, language: String? = "en") -> ReachedDevice {
        ReachedDevice(
            device: ObjectID(), account: account, transport: .webpush, address: Secret(address), registered: 5,
            language: language)
    }

    /// It as a part of a push.
    var recipient: PushRecipient { PushRecipient(device: device, by: transport) }

    /// It with another address.
    func at(_ address: String) -> ReachedDevice {
        ReachedDevice(
            device: device, account: account, transport: transport, address: Secret(address), registered: registered + 1,
            language: language)
    }
}

extension AccountName {
    static let ann = AccountName.named("ann")
    static let ben = AccountName.named("ben")

    static func named(_ name: String) -> AccountName {
        guard let account = AccountName(name) else { preconditionFailure("\(name) is no name of an account") }
        return account
    }
}

extension LogPush {
    /// A push to persons as the people service logs it.
    static func persons(
        _ key: String = "p", to accounts: [AccountName] = [.ann], except device: ObjectID? = nil,
        fairnessKey: String = "friends", lifetime: Milliseconds = 3_600_000, notBefore: UnixMilliseconds? = nil
    ) throws -> LogPush {
        try LogPush(
            idempotencyKey: key, accounts: accounts, kind: .friendRequest, except: device, fairnessKey: fairnessKey,
            message: PersonPush(
                id: "6b0187feff0dafac2833f431", link: "#people/requests",
                texts: ["en": "You have a friend request", "ar": "لديك طلب صداقة"]),
            expires: .now + lifetime, notBefore: notBefore)
    }
}
