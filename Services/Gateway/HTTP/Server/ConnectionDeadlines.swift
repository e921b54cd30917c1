import Base
import HTTPRouting
import HTTPTypes
import NIOCore

/// Decides when a connection ends whose client takes too long to begin a request, to send the rest of it, or to read the response. Its
/// owner sets the alarm. Pure, except that it tells the connection's activity.
///
/// A deadline is for the whole request or response. A client that sends or reads single bytes gains no time. A response whose size
/// is unknown at its start, and a picture, have a deadline for each of their pieces instead.
struct ConnectionDeadlines {
    /// What has taken too long.
    enum Overdue {
        case request
        /// The answer to the request that has not arrived. The connection is closed after it.
        case restOfRequest(Problem)
        case restOfResponse
    }

    private let activity: ConnectionActivity
    private var phase: ConnectionPhase
    private var alarm = Alarm<NIODeadline>()

    /// - Parameter activity: Is told when the connection waits for its client.
    init(_ timeouts: ConnectionTimeouts, activity: ConnectionActivity, at now: NIODeadline) {
        self.activity = activity
        phase = ConnectionPhase(timeouts, at: now)
    }

    /// Whether each piece of the response has a deadline.
    var isGrowing: Bool { phase.isGrowing }

    mutating func requestHeadArrived(_ head: HTTPRequest, at now: NIODeadline) {
        let length = head.headerFields.value(of: .contentLength).flatMap { Int($0) } ?? 0
        phase.requestHeadArrived(at: now, length: length)
    }

    mutating func requestEnded() { phase.requestEnded() }

    mutating func bytesArrived(at now: NIODeadline) { phase.bytesArrived(at: now) }

    mutating func answerStarted(_ head: HTTPResponse, at now: NIODeadline) {
        phase.responseStarted(at: now)
        let type = head.headerFields.value(of: .contentType) ?? ""
        if head.headerFields.contains(.contentLength) {
            // Who could send a picture over a slow line can read it over the same.
            if type.utf8.starts(with: "image/".utf8) { phase.growthStarted() }
        } else if type == ServerSentEvent.contentType {
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
                    "The request did not arrive within \(phase.requestTime.nanoseconds / 1_000_000_000) seconds."))
        case .restOfResponse: return .restOfResponse
        }
    }
}
