import Synchronization
import UnixSignals

/// Sends a load and measures it.
struct LoadRun: Sendable {
    let target: any LoadTarget
    /// `nil` for as fast as possible.
    let rate: Double?
    let duration: Double
    let ramp: Double
    /// The maximum number of unanswered messages.
    let inFlight: Int
    /// Called once a second with the progress.
    let report: @Sendable (LoadRecorder.Interval) -> Void

    private static let clock = ContinuousClock()
    /// In seconds.
    private static let minSleep = 0.000_5

    /// Sends until the duration is over or the task is cancelled, and waits for the answers. Returns the results, and how long
    /// messages were sent, in seconds.
    func run() async -> (totals: LoadRecorder.Totals, seconds: Double) {
        let recorder = LoadRecorder()
        let start = Self.clock.now
        let seconds = await withTaskGroup(of: Double?.self) { group in
            group.addTask(executorPreference: target.executor) {
                if let rate {
                    await sendOpen(ArrivalSchedule(rate: rate, ramp: ramp, duration: duration), recorder, start)
                } else {
                    await sendClosed(recorder, start)
                }
            }
            group.addTask {
                await reportIntervals(recorder, start)
                return nil
            }
            var seconds: Double?
            while seconds == nil, let next = await group.next() { seconds = next }
            group.cancelAll()
            return seconds ?? 0
        }
        _ = recorder.endInterval(at: Self.seconds(since: start))
        return (recorder.totals, seconds)
    }

    /// The same, but Ctrl-C ends it early.
    func runUntilInterrupted() async -> (totals: LoadRecorder.Totals, seconds: Double) {
        let running = Task { await run() }
        let interruption = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { running.cancel() }
        }
        defer { interruption.cancel() }
        return await running.value
    }

    /// Open loop: sends each message at its due time, independently of earlier answers.
    private func sendOpen(
        _ schedule: ArrivalSchedule, _ recorder: LoadRecorder, _ start: ContinuousClock.Instant
    ) async -> Double {
        let slots = Slots(inFlight)
        var end = duration
        await withDiscardingTaskGroup { group in
            for index in 0..<schedule.count {
                let moment = schedule.moment(of: index)
                // A shorter sleep would cost more than it gains. The next check notices a cancellation.
                if Self.seconds(since: start) + Self.minSleep < moment {
                    try? await Task.sleep(until: start + .seconds(moment))
                }
                guard !Task.isCancelled else {
                    end = Self.seconds(since: start)
                    break
                }
                // Without a free slot the message goes out late. Its latency still counts from its due time.
                await slots.take()
                let sent = Self.seconds(since: start)
                recorder.began(delay: max(0, sent - moment))
                group.addTask {
                    let errors = await detached { await target.send(index) }
                    let end = Self.seconds(since: start)
                    recorder.ended(errors, latency: end - min(moment, sent), at: end, counts: !schedule.isInRamp(index))
                    slots.giveBack()
                }
            }
        }
        return end
    }

    /// Closed loop: each client sends its next message after the answer to its last one.
    private func sendClosed(_ recorder: LoadRecorder, _ start: ContinuousClock.Instant) async -> Double {
        let turns = MessageCounter(end: duration)
        await withDiscardingTaskGroup { group in
            for _ in 0..<inFlight {
                group.addTask {
                    while case let moment = Self.seconds(since: start), moment < duration {
                        guard !Task.isCancelled else { return turns.cutOff(at: moment) }
                        let index = turns.next()
                        recorder.began(delay: 0)
                        let errors = await detached { await target.send(index) }
                        let end = Self.seconds(since: start)
                        recorder.ended(errors, latency: end - moment, at: end, counts: true)
                    }
                }
            }
        }
        return turns.end
    }

    private func reportIntervals(_ recorder: LoadRecorder, _ start: ContinuousClock.Instant) async {
        var moment = 1.0
        while true {
            do {
                try await Task.sleep(until: start + .seconds(moment))
            } catch {
                return
            }
            report(recorder.endInterval(at: moment))
            moment += 1
        }
    }

    /// Runs a body that is not cancelled with the load, so that sent messages are still answered.
    private func detached<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await Task(executorPreference: target.executor) { await body() }.value
    }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        (clock.now - start) / .seconds(1)
    }
}

/// A counting semaphore for one task that takes and many that give back.
private final class Slots: Sendable {
    private struct State {
        var free: Int
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    /// Waits for a free slot. Only one task may wait.
    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting = continuation
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state in
            guard let waiting = state.waiting else {
                state.free += 1
                return nil as CheckedContinuation<Void, Never>?
            }
            state.waiting = nil
            return waiting
        }
        next?.resume()
    }
}

/// Hands out message numbers to many clients, and records when the load was cancelled.
private final class MessageCounter: Sendable {
    private let state: Mutex<(next: Int, end: Double)>

    init(end: Double) {
        state = Mutex((0, end))
    }

    var end: Double { state.withLock(\.end) }

    func next() -> Int {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
    }

    func cutOff(at moment: Double) {
        state.withLock { $0.end = min($0.end, moment) }
    }
}

/// The due time of each message: at a constant rate, after a ramp in which the rate rises linearly from nothing. Pure. Times are
/// seconds from the beginning.
struct ArrivalSchedule: Sendable {
    let rate: Double
    let ramp: Double
    let duration: Double

    /// The number of messages in the ramp: half of those in the same time at the full rate.
    private var messagesInRamp: Double { rate * ramp / 2 }

    /// The number of messages.
    var count: Int {
        Int((messagesInRamp + rate * (duration - ramp)).rounded(.up))
    }

    /// The due time of a message.
    ///
    /// - Parameter index: From 0.
    func moment(of index: Int) -> Double {
        let number = Double(index)
        guard number < messagesInRamp else { return ramp + (number - messagesInRamp) / rate }
        return (2 * number * ramp / rate).squareRoot()
    }

    /// Whether a message is due in the ramp.
    func isInRamp(_ index: Int) -> Bool {
        Double(index) < messagesInRamp
    }
}
