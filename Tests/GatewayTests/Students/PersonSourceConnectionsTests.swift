import Testing

@testable import Gateway

@Suite("When persons' streams learn that events of a service may be missing")
struct PersonSourceConnectionsTests {
    private let start = ContinuousClock.now

    @Test("Nobody is told of a service that is away; all are told once when it is there again")
    func away() {
        var connections = PersonSourceConnections()
        let early = connections.takeDue(now: start)
        #expect(!early && !connections.isConnected)
        connections.connected(to: "a")
        let first = connections.takeDue(now: start)
        let again = connections.takeDue(now: start + .seconds(60))
        #expect(first && !again && connections.isConnected)
        connections.disconnected(from: "a")
        let lost = connections.takeDue(now: start + .seconds(120))
        #expect(!lost && !connections.isConnected)
        connections.connected(to: "a")
        let back = connections.takeDue(now: start + .seconds(180))
        #expect(back)
    }

    @Test("While another instance is there, all are told at once of one that is lost")
    func instances() {
        var connections = PersonSourceConnections()
        connections.connected(to: "a")
        connections.connected(to: "b")
        let first = connections.takeDue(now: start)
        connections.disconnected(from: "a")
        let lost = connections.takeDue(now: start + .seconds(60))
        #expect(first && lost && connections.isConnected)
    }

    @Test("The end of a connection that was none, as with a service that hangs, tells nothing")
    func hanging() {
        var connections = PersonSourceConnections()
        connections.connected(to: "b")
        let first = connections.takeDue(now: start)
        #expect(first)
        for _ in 0..<10 { connections.disconnected(from: "a") }
        let later = connections.takeDue(now: start + .seconds(60))
        #expect(!later)
    }

    @Test("A service that comes and goes again and again is told of at intervals, and in the end")
    func intervals() {
        var connections = PersonSourceConnections()
        var told: [Int] = []
        for second in 0..<60 {
            if second < 35 {
                if second.isMultiple(of: 2) { connections.connected(to: "a") } else { connections.disconnected(from: "a") }
            }
            let isTold = connections.takeDue(now: start + .seconds(second))
            if isTold { told.append(second) }
        }
        #expect(told == [0, 10, 20, 30, 40])
    }
}
