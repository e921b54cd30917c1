import NIOCore
import Testing

@testable import Gateway

@Suite("The deadlines of a connection")
struct ConnectionPhaseTests {
    private let start = NIODeadline.now()
    private var phase: ConnectionPhase

    init() {
        var timeouts = ConnectionTimeouts()
        (timeouts.idle, timeouts.request, timeouts.response) = (.seconds(15), .seconds(10), .seconds(30))
        phase = ConnectionPhase(timeouts, at: start)
    }

    private func at(_ seconds: Int64) -> NIODeadline { start + .seconds(seconds) }

    private func expect(
        _ overdue: ConnectionPhase.Overdue?, _ seconds: Int64 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(phase.deadline?.overdue == overdue, sourceLocation: sourceLocation)
        if overdue != nil { #expect(phase.deadline?.time == at(seconds), sourceLocation: sourceLocation) }
    }

    @Test("The time of a request counts from its first byte, and later bytes do not extend it")
    mutating func request() {
        expect(.request, 15)
        phase.bytesArrived(at: at(3))
        expect(.restOfRequest, 13)
        phase.bytesArrived(at: at(9))
        phase.requestHeadArrived(at: at(9))
        expect(.restOfRequest, 13)
        phase.requestEnded()
        expect(nil)
    }

    @Test("The time of a response counts from its head until its last byte is sent")
    mutating func response() {
        phase.requestHeadArrived(at: at(1))
        phase.requestEnded()
        phase.bytesArrived(at: at(1))
        expect(nil)
        phase.responseStarted(at: at(4))
        expect(.restOfResponse, 34)
        phase.bytesArrived(at: at(20))
        expect(.restOfResponse, 34)
        phase.responseEnded(at: at(21))
        expect(.request, 36)
    }

    @Test("A stream of events has no deadline until it ends")
    mutating func stream() {
        phase.requestHeadArrived(at: at(1))
        phase.requestEnded()
        phase.responseStarted(at: at(2))
        phase.streamStarted()
        expect(nil)
        phase.responseEnded(at: at(100))
        expect(.request, 115)
    }

    @Test("A response of unknown size has a deadline for each piece, and none while its next piece is made")
    mutating func growing() {
        phase.requestHeadArrived(at: at(1))
        phase.requestEnded()
        phase.responseStarted(at: at(2))
        phase.growthStarted()
        expect(nil)
        phase.pieceWritten(at: at(40))
        expect(.restOfResponse, 70)
        phase.pieceSent(at: at(60))
        expect(nil)
        phase.pieceWritten(at: at(100))
        phase.pieceWritten(at: at(101))
        phase.pieceSent(at: at(120))
        expect(.restOfResponse, 150)
        phase.responseEnded(at: at(140))
        expect(.request, 155)
    }

    @Test("The time of a pipelined request starts when its turn comes")
    mutating func pipelined() {
        phase.requestHeadArrived(at: at(1))
        phase.requestEnded()
        phase.requestHeadArrived(at: at(1))
        expect(nil)
        phase.responseStarted(at: at(20))
        phase.responseEnded(at: at(20))
        expect(.restOfRequest, 30)
        phase.requestEnded()
        expect(nil)
    }

    @Test("A response to a malformed request leaves no deadline behind")
    mutating func unasked() {
        phase.bytesArrived(at: at(1))
        phase.responseStarted(at: at(2))
        phase.responseEnded(at: at(2))
        phase.requestHeadArrived(at: at(3))
        phase.requestEnded()
        expect(nil)
    }

    @Test("When one of two responses ends, the other keeps its deadline")
    mutating func responsesInFlight() {
        for _ in 0..<2 {
            phase.requestHeadArrived(at: at(0))
            phase.requestEnded()
        }
        phase.responseStarted(at: at(1))
        phase.responseStarted(at: at(2))
        phase.responseEnded(at: at(3))
        #expect(phase.deadline?.overdue == .restOfResponse)
        phase.responseEnded(at: at(4))
        #expect(phase.deadline?.overdue == .request)
    }
}
