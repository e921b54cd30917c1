import CZeroMQ
import Bus
import FoundationEssentials
import Testing
import TestSupport

@Suite("Events", .timeLimit(.minutes(10)))
struct EventTests {
    @Test("A subscriber gets the events that it has named, and no others")
    func subscribersGetTheEventsTheyNamed() async throws {
        try await withBus { bus in
            let publisher = try EventPublisher(bus: bus, endpoint: "tcp://127.0.0.1:0", logger: quietLogger)
            let subscriber = try EventSubscriber(
                bus: bus, endpoints: [publisher.endpoint], names: ["cube.changed"], logger: quietLogger)
            var events = subscriber.events.makeAsyncIterator()
            #expect(await events.next() == .connected(endpoint: publisher.endpoint))
            let name = "cube.changed"
            let sending = Task {
                var version = 0
                while !Task.isCancelled {
                    version += 1
                    publisher.publish("other", Data("{}".utf8))
                    publisher.publish("cube.changed.not", Data("{}".utf8))
                    publisher.publish(name, Data("{\"version\":\(version)}".utf8))
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            for _ in 0..<3 {
                guard case .event(name, let payload, publisher.endpoint) = await events.next() else {
                    Issue.record("expected an event")
                    break
                }
                #expect(String(decoding: payload, as: UTF8.self).hasPrefix("{\"version\":"))
            }
            sending.cancel()
            _ = await sending.result
        }
    }

    @Test("A subscriber is told when a publisher connects and disconnects")
    func comingsAndGoingsAreTold() async throws {
        try await withBusAndFolder { bus, folder in
            let endpoint = "ipc://\(folder)/events.sock"
            let subscriber = try EventSubscriber(bus: bus, endpoints: [endpoint], logger: quietLogger)
            var events = subscriber.events.makeAsyncIterator()
            for _ in 0..<2 {
                let publisher = try EventPublisher(bus: bus, endpoint: endpoint, logger: quietLogger)
                #expect(await events.next() == .connected(endpoint: endpoint))
                await publisher.close()
                #expect(await events.next() == .disconnected(endpoint: endpoint))
            }
            await subscriber.close()
            #expect(await events.next() == nil)
        }
    }

    @Test("A publisher that hangs is tried again and again, and the subscriber is told only of connections that it has had")
    func aHangingPublisherIsNoConnection() async throws {
        try await withBusAndFolder { bus, folder in
            let endpoint = "ipc://\(folder)/hanging.sock"
            // Like a stopped process: the system accepts the connection, and there is no answer.
            let silent = try UnixSocket(listeningAt: "\(folder)/hanging.sock")
            var limits = EventLimits()
            limits.silence = .milliseconds(200)
            let subscriber = try EventSubscriber(bus: bus, endpoints: [endpoint], limits: limits, logger: quietLogger)
            var events = subscriber.events.makeAsyncIterator()
            // Several handshakes end in this time.
            try await Task.sleep(for: .seconds(1))
            silent.close()
            let publisher = try EventPublisher(bus: bus, endpoint: endpoint, logger: quietLogger)
            #expect(await events.next() == .connected(endpoint: endpoint))
            await publisher.close()
            #expect(await events.next() == .disconnected(endpoint: endpoint))
        }
    }

    @Test("A slow subscriber is told that it has missed events")
    func aSlowTakerIsToldOfTheGap() async throws {
        try await withBus { bus in
            let publisher = try EventPublisher(bus: bus, endpoint: "tcp://127.0.0.1:0", logger: quietLogger)
            var limits = EventLimits()
            limits.maxPending = 10
            let slow = try EventSubscriber(
                bus: bus, endpoints: [publisher.endpoint], limits: limits, logger: quietLogger)
            let quick = try EventSubscriber(bus: bus, endpoints: [publisher.endpoint], logger: quietLogger)
            let sending = Task {
                while !Task.isCancelled {
                    publisher.publish("tick", Data("1".utf8))
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            var received = 0
            for await event in quick.events {
                if case .event = event { received += 1 }
                if received == 100 { break }
            }
            sending.cancel()
            _ = await sending.result
            for await event in slow.events {
                #expect(event == .missed)
                break
            }
        }
    }

    @Test("Malformed events are dropped")
    func malformedEventsAreDropped() async throws {
        try await withBus { bus in
            let foreign = try RawPeer(ZMQ_PUB, boundTo: "tcp://127.0.0.1:*")
            let subscriber = try EventSubscriber(bus: bus, endpoints: [foreign.endpoint], logger: quietLogger)
            let events = Task {
                var seen: [BusEvent] = []
                for await event in subscriber.events {
                    seen.append(event)
                    if case .event = event { break }
                }
                return seen
            }
            let sending = Task {
                while !Task.isCancelled {
                    for frames in [["x"], ["x", "{"], ["x", "{}", "{}"], ["x", ""]] {
                        try await foreign.send(frames.map { Array($0.utf8) })
                    }
                    try await foreign.send([[0xFF], Array("{}".utf8)])
                    try await foreign.send("good", "{}")
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            let seen = await events.value
            sending.cancel()
            _ = await sending.result
            // ZeroMQ tells of the connection by another socket, so that may come after an event.
            let received = seen.filter { $0 != .connected(endpoint: foreign.endpoint) }
            #expect(received == [.event(name: "good", payload: Data("{}".utf8), endpoint: foreign.endpoint)])
        }
    }
}
