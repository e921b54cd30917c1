import NIOCore
import Schemas
import Synchronization

/// A service's ``SelfCheck`` while the service runs. Its answers come within ``timeout``, whatever is stuck.
///
/// The steps run on the ``HealthThread``. Each runs once at a time: those who ask meanwhile share its result. So a step that never ends
/// costs one task, however often the service is asked.
final class SelfCheckRun: Sendable {
    private typealias Outcome = Result<PartHealth, any Error>

    /// What is under way of a step.
    private struct Attempt {
        let began: NIODeadline
        let outcome: EventLoopFuture<Outcome>
    }

    /// Longer than the timeouts of the commands in ``SelfCheck/commands(of:bus:logger:)`` together, and shorter than the 10 s for which
    /// Prometheus waits.
    static let timeout = TimeAmount.seconds(8)

    private let steps: [SelfCheck.Step]
    private let attempts = Mutex<[String: Attempt]>([:])

    init(_ check: SelfCheck) throws {
        steps = try check.start()
    }

    /// Runs all steps at once.
    ///
    /// - Returns: The service's state.
    /// - Throws: ``StuckService``.
    func state() async throws -> PartHealth {
        var state = PartHealth.ok
        var stuck: [String: PartHealth] = [:]
        for (step, outcome) in steps.map({ ($0, outcome(of: $0)) }) {
            do {
                let health = try await outcome.get().get()
                if health != .ok { state = health }
            } catch let service as StuckService {
                stuck.merge(service.parts) { $1 }
            } catch {
                stuck[step.name] = PartHealth(.deadlineExceeded, "\(error)")
            }
        }
        guard stuck.isEmpty else { throw StuckService(parts: stuck) }
        return state
    }

    private func outcome(of step: SelfCheck.Step) -> EventLoopFuture<Outcome> {
        let attempt = attempts.withLock { attempts in
            if let attempt = attempts[step.name] { return attempt }
            let attempt = begin(step)
            attempts[step.name] = attempt
            return attempt
        }
        let answer = HealthThread.loop.makePromise(of: Outcome.self)
        attempt.outcome.cascade(to: answer)
        let timer = HealthThread.loop.scheduleTask(deadline: attempt.began + Self.timeout) {
            let seconds = (NIODeadline.now() - attempt.began).nanoseconds / 1_000_000_000
            answer.succeed(.failure(NoAnswer(seconds: seconds)))
        }
        attempt.outcome.whenComplete { _ in timer.cancel() }
        return answer.futureResult
    }

    private func begin(_ step: SelfCheck.Step) -> Attempt {
        let promise = HealthThread.loop.makePromise(of: Outcome.self)
        Task(executorPreference: HealthThread.executor) {
            let outcome: Outcome
            do {
                outcome = .success(try await step.run())
            } catch {
                outcome = .failure(error)
            }
            self.attempts.withLock { $0[step.name] = nil }
            promise.succeed(outcome)
        }
        return Attempt(began: .now(), outcome: promise.futureResult)
    }
}

/// A part of the process has not answered in time.
private struct NoAnswer: Error, CustomStringConvertible {
    let seconds: Int64

    var description: String { "no answer for \(seconds) s" }
}
