import Testing

@testable import Bus

@Suite("The numbers of a client's endpoints")
struct EndpointSlotsTests {
    @Test("An instance that appears gets a number; one that is gone is left as soon as its connection is lost")
    func appearAndVanish() {
        var slots = EndpointSlots(fixed: ["f"], instances: ["a"])
        #expect(!slots.hasChanges && slots.endpoint(0) == "f" && slots.endpoint(1) == "a")
        slots.found(["a", "b"])
        #expect(slots.takeChanges() == [.open(2, endpoint: "b")])
        slots.connected(1)
        slots.connected(2)
        slots.found(["b"])
        #expect(slots.takeChanges() == [.leaving(1)])
        #expect(!slots.hasChanges)
        slots.disconnected(1)
        #expect(slots.takeChanges() == [.close(1)])
        // Its number is free.
        slots.found(["b", "c"])
        #expect(slots.takeChanges() == [.open(1, endpoint: "c")])
        #expect(slots.endpoint(1) == "c")
    }

    @Test("An instance that is not connected is left at once")
    func neverConnected() {
        var slots = EndpointSlots(fixed: [], instances: ["a"])
        slots.found([])
        #expect(slots.takeChanges() == [.leaving(0), .close(0)])
        slots.found(["a"])
        #expect(slots.takeChanges() == [.open(0, endpoint: "a")])
    }

    @Test("A connection that was made in the meantime is kept")
    func connectedAsLeaving() {
        var slots = EndpointSlots(fixed: [], instances: ["a"])
        slots.found([])
        slots.connected(0)
        #expect(slots.takeChanges() == [.leaving(0)])
        slots.found(["a"])
        #expect(slots.takeChanges() == [.back(0)])
        slots.disconnected(0)
        #expect(!slots.hasChanges)
    }

    @Test("An instance that was replaced between two looks keeps its number")
    func replaced() {
        var slots = EndpointSlots(fixed: [], instances: ["a"])
        slots.connected(0)
        slots.found([])
        slots.disconnected(0)
        slots.found(["a"])
        #expect(slots.takeChanges() == [.leaving(0), .back(0)])
    }

    @Test("A fixed endpoint stays")
    func fixed() {
        var slots = EndpointSlots(fixed: ["f"], instances: [])
        slots.connected(0)
        slots.disconnected(0)
        slots.found([])
        #expect(!slots.hasChanges)
    }

    @Test("An endpoint that could not be opened is opened the next time")
    func failed() {
        var slots = EndpointSlots(fixed: ["f"], instances: [])
        slots.found(["a"])
        #expect(slots.takeChanges() == [.open(1, endpoint: "a")])
        slots.failed(1)
        #expect(!slots.hasChanges)
        slots.found(["a"])
        #expect(slots.takeChanges() == [.open(1, endpoint: "a")])
    }
}
