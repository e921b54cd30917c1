import Bus
import FoundationEssentials
import Base
import Schemas
import Synchronization

/// Answers with its payload.
struct Echo: Command, Hashable {
    static let name = "test.echo"
    typealias Reply = Echo

    var text: String
    var number = 0

    init(text: String, number: Int = 0) {
        self.text = text
        self.number = number
    }
}

/// Waits until its gate opens, or its task is cancelled.
struct Hold: Command {
    static let name = "test.hold"
    typealias Reply = Done
}

/// Fails in the requested way.
struct Fail: Command {
    static let name = "test.fail"
    typealias Reply = Done

    let with: String
}

struct Unforeseen: Error {
    let secret = "swordfish"
}

/// A latch that handlers wait for, and that counts them.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var entered = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    var entered: Int { state.withLock { $0.entered } }

    func pass() async {
        let number = state.withLock { state in
            state.entered += 1
            return state.entered
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        waiting.values.forEach { $0.resume() }
    }
}

extension CommandRouter {
    static func testing(gate: Gate = Gate()) -> CommandRouter {
        var router = CommandRouter()
        router.on(Echo.self) { command, _ in command }
        router.on(Hold.self) { _, _ in
            await gate.pass()
            return Done()
        }
        router.on(Fail.self) { command, _ in
            switch command.with {
            case "failure": throw CommandFailure(.conflict, "not now", field: "with")
            case "violation": throw SchemaViolation(field: "with", problem: "expected something else")
            case "ok": throw CommandFailure(.ok, "no failure at all")
            default: throw Unforeseen()
            }
        }
        router.on("test.bytes") { payload, _ in payload }
        return router
    }
}
