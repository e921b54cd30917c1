import FCM
import Base

/// The fan-outs under way: a message to a topic or a condition reaches its phones one after another, at a limited rate. Pure.
///
/// All fan-outs of a project share its rate equally, as Google says: with two under way, each has half of the rate. Only the lists of
/// their phones are in memory, and nothing is stored. So after a restart the phones get at once what is left of a fan-out.
struct FanOuts: Sendable {
    private struct FanOut: Sendable {
        /// FCM's name of the message.
        let name: String
        /// The row ids, in ascending order. It is also the order of delivery.
        let phones: [Int64]
        /// The common progress at its begin, and at its end.
        let begin: Double
        var end: Double { begin + Double(phones.count) }

        init(_ name: String, to phones: [Int64], begin: Double) {
            self.name = name
            self.phones = phones
            self.begin = begin
        }

        /// The common progress at which it reaches a phone; `nil` if the phone is not among the recipients.
        func progress(reaching phone: Int64) -> Double? {
            var range = phones.indices
            while !range.isEmpty {
                let middle = (range.lowerBound + range.upperBound) / 2
                if phones[middle] == phone { return begin + Double(middle + 1) }
                range = phones[middle] < phone ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return nil
        }
    }

    /// Computed times are not exact. A message that is less than this early is due.
    private static let tolerance = Duration.microseconds(1)

    /// The deliveries a second of all fan-outs together; 0 for no limit.
    let rate: Int
    /// In the order of their ends.
    private var underWay: [FanOut] = []
    /// The deliveries of a fan-out that has always been under way. Since the shares are equal, each one's deliveries are the increase
    /// since its begin, and a phone's turn does not change when others begin or end; only its time does.
    private var progress = 0.0
    /// When ``progress`` was reached.
    private var time = ContinuousClock.now

    /// - Parameter rate: Deliveries a second; 0 for no limit.
    init(rate: Int) {
        self.rate = rate
    }

    /// Whether there is a limit.
    var isLimited: Bool { rate > 0 }

    /// Begins a fan-out.
    ///
    /// - Parameters:
    ///   - name: FCM's name of the message.
    ///   - phones: The recipients' row ids, in ascending order.
    mutating func begin(_ name: String, to phones: [Int64], at now: ContinuousClock.Instant) {
        guard isLimited, !phones.isEmpty else { return }
        advance(to: now)
        let new = FanOut(name, to: phones, begin: progress)
        underWay.insert(new, at: underWay.firstIndex { $0.end > new.end } ?? underWay.endIndex)
    }

    /// Removes the fan-out of a message that was not accepted.
    mutating func cancel(_ name: String, at now: ContinuousClock.Instant) {
        advance(to: now)
        underWay.removeAll { $0.name == name }
    }

    /// When a message reaches a phone, if no other fan-out begins before; `nil` if it may have it now.
    mutating func arrival(of name: String, at phone: Int64, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        advance(to: now)
        guard let turn = underWay.first(where: { $0.name == name })?.progress(reaching: phone) else { return nil }
        var (reached, deliveries, sharing) = (progress, 0.0, underWay.count)
        for fanOut in underWay.prefix(while: { $0.end < turn }) {
            deliveries += (fanOut.end - reached) * Double(sharing)
            reached = fanOut.end
            sharing -= 1
        }
        deliveries += (turn - reached) * Double(sharing)
        let wait = Duration.seconds(deliveries / Double(rate))
        return wait > Self.tolerance ? time + wait : nil
    }

    /// Computes the progress at a time. Ends the fan-outs that have reached all phones by then.
    private mutating func advance(to now: ContinuousClock.Instant) {
        guard now > time || underWay.isEmpty else { return }
        var deliveries = (now - time) / .seconds(1) * Double(rate)
        time = now
        var ended = 0
        for fanOut in underWay {
            let rest = (fanOut.end - progress) * Double(underWay.count - ended)
            guard rest <= deliveries else { break }
            deliveries -= rest
            progress = fanOut.end
            ended += 1
        }
        underWay.removeFirst(ended)
        // From 0 again if nothing is under way, so that the sums stay exact.
        progress = underWay.isEmpty ? 0 : progress + deliveries / Double(underWay.count)
    }
}

extension FanOuts {
    /// Which of a phone's messages it may have now.
    ///
    /// - Parameter messages: In the order of acceptance. A message that is not due holds back those after it.
    /// - Returns: The number of messages that are due, and when the next one is; `nil` if all are due.
    mutating func due(
        _ messages: [EmulatorStore.Stored], for phone: Int64, now: ContinuousClock.Instant
    ) -> (count: Int, next: ContinuousClock.Instant?) {
        guard !underWay.isEmpty else { return (messages.count, nil) }
        for (index, message) in messages.enumerated() {
            if let arrival = self.arrival(of: message.name, at: phone, now: now) { return (index, arrival) }
        }
        return (messages.count, nil)
    }
}

extension FanOuts: ControlSection {
    static let form = FCMForm("emulator.FanOut", ["deliveries_per_s": .int32])

    init(_ fields: ControlFields) throws {
        self.init(rate: try fields.integer("deliveries_per_s", in: 0...1_000_000) ?? 0)
    }

    var document: JSONValue { ["deliveries_per_s": .integer(rate)] }
}
