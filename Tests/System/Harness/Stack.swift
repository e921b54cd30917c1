import Glibc
import NIOCore
import NIOHTTP1
import ServiceKit
import Synchronization
import TestSupport

/// The whole product, running: every process that `msi up` starts, and the clients of its HTTP servers.
struct Stack: Sendable {
    /// `msi up`, or `deploy/run`.
    let program: RunningProgram
    let stateDirectory: String
    let portal: Portal
    let fcm: FCMServer

    /// The executables in the order of their start. They are stopped in reverse order.
    static let services = (ServiceEntry.all + [.phone]).map(\.executable)

    /// The port of the phone's page; `nil` if it did not start.
    var phonePort: Int? {
        let line = program.lines.first { $0.contains("  phone  ") }
        return line?.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
    }

    /// The identity emulator; `nil` if there is none.
    var identity: IdentityServer? {
        let line = program.lines.first { $0.contains("  sign-in  ") }
        return line?.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+/).map { IdentityServer(url: String($0.output), http: portal.http) }
    }

    /// The running processes by the names of their executables.
    var processes: [String: Int32] {
        Dictionary(program.children.map { ($0.name, $0.id) }) { first, _ in first }
    }

    /// Settings with which a program finds this product.
    var environment: [String: String] {
        [
            "MSI_STATE_DIR": stateDirectory, "MSI_GATEWAY_PORT": "\(portal.port)", "MSI_FCM_EMULATOR_PORT": "\(fcm.port)",
            "MSI_PHONE_PORT": "0",
        ]
    }

    /// Runs `msi` for this product to its end.
    func msi(_ arguments: [String], _ settings: [String: String] = [:]) async throws -> ProgramEnd<Void> {
        try await runProgram("msi", arguments, environment: environment.merging(settings) { $1 })
    }

    /// Sends a signal to one service.
    func signal(_ signal: Int32, _ service: String) throws {
        guard let id = processes[service] else { throw TooLate("\(service) is not running") }
        _ = kill(id, signal)
    }

    /// Freezes one service until it gets SIGCONT. Returns once all of its threads are stopped.
    func freeze(_ service: String, isolation: isolated (any Actor)? = #isolation) async throws {
        guard let id = processes[service] else { throw TooLate("\(service) is not running") }
        _ = kill(id, SIGSTOP)
        try await eventually("a frozen \(service)") { try ProcessTable.hasStopped(id) }
    }

    /// Kills one service, and waits until `msi up` has restarted it.
    func killAndReplace(_ service: String) async throws {
        guard let old = processes[service] else { throw TooLate("\(service) is not running") }
        _ = kill(old, SIGKILL)
        try await eventually("another \(service)") { processes[service].map { $0 != old } ?? false }
    }

    /// Runs a body while one service is frozen, and continues the service in any case.
    func whileFrozen<Value>(
        _ service: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws -> Value {
        try await freeze(service)
        return try await perform {
            try await body()
        } finally: {
            try signal(SIGCONT, service)
        }
    }

    /// Waits until every service can do its work.
    func healthy() async throws {
        try await eventually("a healthy stack") { await portal.isHealthy() }
    }

    /// Runs a body with a phone that listens.
    ///
    /// - Parameter phone: A registered phone; by default a new one.
    func withPhone<Value: Sendable>(
        _ phone: Phone? = nil, subscribedTo topics: [String] = [], _ body: (Phone) async throws -> Value
    ) async throws -> Value {
        let known = phone
        let phone: Phone
        if let known { phone = known } else { phone = try await Phone.register(at: fcm) }
        for topic in topics { try await fcm.subscribe(phone.token, to: topic) }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await phone.listen(at: fcm) }
            defer { group.cancelAll() }
            return try await body(phone)
        }
    }
}

/// Starts a stack, runs a body, and stops the stack as by Ctrl-C. Checks that it ended with status 0 and left no process behind.
///
/// - Parameters:
///   - folder: The state directory; by default a temporary one.
///   - settings: Further settings, as environment variables.
func withStack<Value: Sendable>(
    in folder: String? = nil, settings: [String: String] = [:], script: String? = nil,
    _ body: @Sendable (Stack) async throws -> Value
) async throws -> Value {
    guard let folder else {
        return try await withTemporaryFolder {
            try await withStack(in: $0 + "/état 1", settings: settings, script: script, body)
        }
    }
    let environment = upSettings(in: folder).merging(settings) { $1 }
    StackCount.started(script ?? "msi up")
    let end = try await withProgram(
        script ?? "msi", arguments: script == nil ? ["up"] : [], environment: environment
    ) { program in
        let ports = try await StackPorts(of: program)
        return try await withHTTPClient(trusting: folder + "/fcm-emulator/ca.pem") { http in
            let stack = Stack(
                program: program, stateDirectory: folder,
                portal: Portal(
                    port: ports.gateway, http: http, token: try TestOperator.token(in: folder)),
                fcm: FCMServer(port: ports.emulator, folder: folder + "/fcm-emulator", http: http))
            let value = try await body(stack)
            return (value, stack.program.children.map(\.id))
        }
    }
    let (value, children) = end.value
    guard end.exitCode == 0 else { throw TooLate("msi up ended with \(end.status): \(end.lines)") }
    let left = children.filter(ProcessTable.isRunning)
    guard left.isEmpty else { throw TooLate("msi up has left processes behind: \(left)") }
    return value
}

/// The ports of a stack, from its output when it is ready.
private struct StackPorts {
    let gateway: Int
    let emulator: Int

    init(of program: RunningProgram) async throws {
        // The time limit is long, because a script builds first.
        let ready = try await program.line(within: .seconds(300)) { $0.hasPrefix("ready: ") }
        let fcm = try await program.line { $0.contains("FCM") && $0.contains("https://127.0.0.1:") }
        guard let gateway = ready.firstMatch(of: /https?:\/\/127\.0\.0\.1:(\d+)/).flatMap({ Int($0.1) }),
            let emulator = fcm.firstMatch(of: /https:\/\/127\.0\.0\.1:(\d+)/).flatMap({ Int($0.1) })
        else { throw TooLate("no ports in: \(program.lines)") }
        self.gateway = gateway
        self.emulator = emulator
    }
}

/// Counts the products that the tests start. Each has a line in the output of the tests, so that a new one is noticed.
enum StackCount {
    private static let count = Atomic(0)

    /// - Parameter what: What is started.
    static func started(_ what: String) {
        print("stack \(count.add(1, ordering: .relaxed).newValue): \(what)")
        fflush(nil)
    }
}
