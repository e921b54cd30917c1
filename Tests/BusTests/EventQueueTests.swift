import FoundationEssentials
import Testing

@testable import Bus

@Suite("The queue of events")
struct EventQueueTests {
    private func event(_ number: Int) -> BusEvent {
        .event(name: "\(number)", payload: Data(), endpoint: "")
    }

    @Test("Events arrive in order")
    func eventsComeInOrder() {
        var queue = EventQueue(capacity: 3)
        for number in 1...3 { queue.append(event(number)) }
        #expect((1...4).map { _ in queue.next() } == [event(1), event(2), event(3), nil])
    }

    @Test("When the queue is full, the oldest event is dropped and a gap is reported")
    func theOldestMakesRoomAndThatIsTold() {
        var queue = EventQueue(capacity: 2)
        for number in 1...5 { queue.append(event(number)) }
        #expect((1...4).map { _ in queue.next() } == [.missed, event(4), event(5), nil])
        queue.append(event(6))
        #expect(queue.next() == event(6))
    }

    @Test("The queue works over many events")
    func longUse() {
        var queue = EventQueue(capacity: 10)
        for number in 1...1_000 {
            queue.append(event(number))
            if number.isMultiple(of: 3) { _ = queue.next() }
        }
        var rest: [BusEvent] = []
        while let event = queue.next() { rest.append(event) }
        #expect(rest == [.missed] + (991...1_000).map(event) || rest == (991...1_000).map(event))
    }
}
