import Base
import HTTPRouting
import HTTPTypes
import NIOCore

/// Decides when a connection ends whose client takes too long to begin a request, to send the rest of it, or to read the response. Its
/// owner sets the alarm. Pure, except that it tells the connection's activity.
///
/// A deadline is for the whole request or response. A client that sends or reads single bytes gains no time. A response whose size
/// is unknown at its start has a deadline for each of its pieces instead.
struct ConnectionDeadlines {
    /// What has taken too long.
    enum Overdue {
        case request
        /// The answer to the request that has not arrived. The connection is closed after it.
        case restOfRequest(Problem)
        case restOfResponse
    }

    private let timeouts: ConnectionTimeouts
    private let activity: ConnectionActivity
    private var phase: ConnectionPhase
    private var alarm = Alarm<NIODeadline>()

    /// - Parameter activity: Is told when the connection waits for its client.
    init(_ timeouts: ConnectionTimeouts, activity: ConnectionActivity, at now: NIODeadline) {
        self.timeouts = timeouts
        self.activity = activity
        phase = ConnectionPhase(timeouts, at: now)
    }

    /// Whether the response is made while it is sent, so that each of its pieces has a deadline.
    var isGrowing: Bool { phase.isGrowing }

    mutating func requestHeadArrived(at now: NIODeadline) { phase.requestHeadArrived(at: now) }

    mutating func requestEnded() { phase.requestEnded() }

    mutating func bytesArrived(at now: NIODeadline) { phase.bytesArrived(at: now) }

    mutating func answerStarted(_ head: HTTPResponse, at now: NIODeadline) {
        phase.responseStarted(at: now)
        // A stream of events has no size either.
        guard !head.headerFields.contains(.contentLength) else { return }
        if head.headerFields[.contentType] == ServerSentEvent.contentType {
            phase.streamStarted()
        } else {
            phase.growthStarted()
        }
    }

    /// A piece of a growing response was written, or the end of a response.
    mutating func pieceWritten(at now: NIODeadline) { phase.pieceWritten(at: now) }

    /// The client has read a piece of a growing response.
    mutating func pieceSent(at now: NIODeadline) { phase.pieceSent(at: now) }

    mutating func responseEnded(at now: NIODeadline) { phase.responseEnded(at: now) }

    // MARK: The alarm

    /// The time for which the alarm must be set now; `nil` if it is set already, or no deadline counts.
    mutating func nextAlarm() -> NIODeadline? {
        activity.waits(since: phase.waitsSince)
        guard let time = phase.deadline?.time, alarm.set(for: time) else { return nil }
        return time
    }

    mutating func alarmRang(for time: NIODeadline) {
        alarm.rang(time)
    }

    /// - Returns: `nil` if the deadline has not passed.
    func overdue(at now: NIODeadline) -> Overdue? {
        guard let (overdue, time) = phase.deadline, time <= now else { return nil }
        switch overdue {
        case .request: return .request
        case .restOfRequest:
            return .restOfRequest(
                Problem(
                    .requestTimeout,
                    "The request did not arrive within \(timeouts.request.nanoseconds / 1_000_000_000) seconds."))
        case .restOfResponse: return .restOfResponse
        }
    }
}
