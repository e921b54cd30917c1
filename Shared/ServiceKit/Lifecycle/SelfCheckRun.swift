import NIOCore
import NIOPosix
import Schemas
import Synchronization

/// A service's ``SelfCheck`` while the service runs. Its answers come within ``timeout``, whatever is stuck.
///
/// The steps run on the ``HealthThread``. Only one run of each step is under way; callers that ask during it share its result. So a
/// step that never ends costs one task, however often the service is asked.
final class SelfCheckRun: Sendable {
    private typealias Outcome = Result<PartHealth, any Error>

    /// A run of a step that is under way.
    private struct Attempt {
        let began: NIODeadline
        /// The outcome, or that there was none in time. All callers share it.
        let answer: EventLoopFuture<Outcome>
    }

    /// Longer than the timeouts of the commands in ``SelfCheck/commands(of:bus:logger:)`` together, and shorter than the 10 s for which
    /// Prometheus waits.
    static let timeout = Duration.seconds(8)

    private let steps: [SelfCheck.Step]
    private let timeout: TimeAmount
    private let attempts = Mutex<[String: Attempt]>([:])

    /// - Parameter timeout: How long a step may take.
    init(_ check: SelfCheck, timeout: Duration = SelfCheckRun.timeout) throws {
        steps = try check.start() + [.periodicSleeps]
        self.timeout = TimeAmount(timeout)
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
        let age = NIODeadline.now() - attempt.began
        guard age < timeout else { return HealthThread.loop.makeSucceededFuture(.failure(NoAnswer(for: age))) }
        return attempt.answer
    }

    private func begin(_ step: SelfCheck.Step) -> Attempt {
        let answer = HealthThread.loop.makePromise(of: Outcome.self)
        let began = NIODeadline.now()
        let timer = HealthThread.loop.scheduleTask(deadline: began + timeout) {
            answer.succeed(.failure(NoAnswer(for: .now() - began)))
        }
        Task(executorPreference: HealthThread.executor) {
            let outcome: Outcome
            do {
                outcome = .success(try await step.run())
            } catch {
                outcome = .failure(error)
            }
            self.attempts.withLock { $0[step.name] = nil }
            timer.cancel()
            // Has no effect after the time-out.
            answer.succeed(outcome)
        }
        return Attempt(began: began, answer: answer.futureResult)
    }
}

/// A part of the process has not answered in time.
private struct NoAnswer: Error, CustomStringConvertible {
    let seconds: Int64

    init(for time: TimeAmount) {
        seconds = time.nanoseconds / 1_000_000_000
    }

    var description: String { "no answer for \(seconds) s" }
}

/// A thread for the answers about the process's health and metrics. It serves nothing else, so it answers while all others are stuck.
enum HealthThread {
    /// Used until the process ends.
    static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// The thread's loop. Its timers go off while Swift's shared threads, which run those of `Task.sleep`, are stuck.
    static let loop = group.next()

    /// Runs tasks on the thread.
    static let executor = EventLoopExecutor(loop)
}
