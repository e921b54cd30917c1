import Testing

@testable import Store

@Suite("Availability of the database")
struct AvailabilityTests {
    private static let gone = MongoError(.notReachable, "no server", meansUnreachable: true)

    @Test("The first operation that finds the database unreachable fails all others, and begins the only probe")
    func goesAway() throws {
        var availability = Availability()
        let tickets = try (0..<3).map { _ in try availability.admit() }
        #expect(availability.failed(Self.gone, tickets[0]) == [.announceOutage(Self.gone), .probe(afterPause: false)])
        #expect(throws: Self.gone) { try availability.admit() }
        #expect(availability.failed(Self.gone, tickets[1]) == [])
        #expect(availability.failed(Self.gone, tickets[2]) == [])
    }

    @Test("An error of the operation itself does not make the database unreachable")
    func ordinaryErrors() throws {
        var availability = Availability()
        let ticket = try availability.admit()
        #expect(availability.failed(MongoError(.duplicateKey, "twice"), ticket) == [])
        _ = try availability.admit()
    }

    @Test("A timeout begins a probe and fails no other operation; the database is unreachable if the probe fails as well")
    func timesOut() throws {
        let slow = MongoError(.timedOut, "slow", meansUnreachable: true)
        var availability = Availability()
        let tickets = try (0..<4).map { _ in try availability.admit() }
        #expect(availability.failed(slow, tickets[0]) == [.probe(afterPause: false)])
        #expect(availability.failed(slow, tickets[1]) == [])
        #expect(availability.slowOperation() == [])
        _ = try availability.admit()
        #expect(availability.probed(nil) == [])
        #expect(availability.slowOperation() == [.probe(afterPause: false)])
        #expect(availability.probed(slow) == [.announceOutage(slow), .probe(afterPause: true)])
        #expect(throws: slow) { try availability.admit() }
        #expect(availability.slowOperation() == [])
        #expect(availability.probed(nil) == [.announceRecovery])
        #expect(availability.failed(slow, tickets[2]) == [])
        let ticket = try availability.admit()
        #expect(availability.failed(slow, ticket) == [.probe(afterPause: false)])
        // After a broken connection the outage is certain, and one probe is sufficient.
        #expect(availability.failed(Self.gone, ticket) == [.announceOutage(Self.gone)])
    }

    @Test("A failed probe is repeated after a pause without another log line, and a successful one lets operations begin")
    func probes() throws {
        var availability = Availability()
        let ticket = try availability.admit()
        _ = availability.failed(Self.gone, ticket)
        #expect(availability.probed(Self.gone) == [.probe(afterPause: true)])
        #expect(availability.probed(Self.gone) == [.probe(afterPause: true)])
        let stranger = MongoError(.notAuthenticated, "who are you", meansUnreachable: true)
        #expect(availability.probed(stranger) == [.announceOutage(stranger), .probe(afterPause: true)])
        #expect(availability.probed(nil) == [.announceRecovery])
        _ = try availability.admit()
    }

    @Test("An operation that began before an outage does not make the database unreachable again after it")
    func lateFailures() throws {
        var availability = Availability()
        let slow = try availability.admit()
        _ = availability.failed(Self.gone, try availability.admit())
        _ = availability.probed(nil)
        #expect(availability.failed(Self.gone, slow) == [])
        _ = try availability.admit()
    }

    @Test("The first probe after the start logs only failures")
    func start() {
        var availability = Availability()
        #expect(availability.probed(nil) == [])
        var absent = Availability()
        #expect(absent.probed(Self.gone) == [.announceOutage(Self.gone), .probe(afterPause: true)])
    }
}
