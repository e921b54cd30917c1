import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import Study

/// What open apps are told about classes.
@Suite("Events of persons about classes", .timeLimit(.minutes(10)))
struct ClassPersonEventTests {
    /// A reader of the events after a moment at which the subscription works.
    private struct Events {
        private var iterator: AsyncStream<PersonChanged>.Iterator
        private(set) var last: PersonChanged

        init(_ study: RunningStudy) async throws {
            let subscriber = try EventSubscriber(
                bus: study.bus, endpoints: ["ipc://\(study.folder)/run/study-events.sock"], names: [PersonChanged.name],
                logger: quietLogger)
            let (stream, continuation) = AsyncStream<PersonChanged>.makeStream()
            Task {
                for await event in subscriber.events {
                    guard case .event(_, let payload, _) = event else { continue }
                    continuation.yield(try JSONCoder.decode(from: payload))
                }
                continuation.finish()
            }
            // Makes events until one comes.
            let id = try await study.addClass("PROBE", by: "probe").id
            let probe = study.person("probe")
            let repeats = Task {
                var choice = false
                while !Task.isCancelled {
                    _ = try await probe.request(ChooseClassPushes(id, newSessions: choice))
                    choice.toggle()
                }
            }
            iterator = stream.makeAsyncIterator()
            last = try #require(await iterator.next(isolation: #isolation))
            repeats.cancel()
            _ = await repeats.result
        }

        /// Whom the next events are for, without those of the probe. Their numbers have no gap.
        mutating func next(_ count: Int, about id: ObjectID) async throws -> [String] {
            var found: [String] = []
            while found.count < count {
                let event = try #require(await iterator.next(isolation: #isolation))
                #expect(event.epoch == last.epoch && event.number == last.number + 1)
                last = event
                guard event.account != "probe" else { continue }
                #expect(event.kind == "classes" && event.id == "\(id)")
                found.append(event.account.key)
            }
            return found
        }
    }

    @Test("Those are told whose part in a class changes, once for each change")
    func events() async throws {
        try await RunningStudy.with { study in
            let prof = study.person("prof")
            let ann = study.person("ann")
            let id = try await study.addClass().id
            let key = try await study.addKey(to: id)
            var events = try await Events(study)
            try await ann.join(key)
            // Nothing changes.
            try await ann.join(key)
            try await prof.request(ChangeClassRole(of: "ann", in: id, to: .assistant))
            try await prof.request(UpdateClass(id, ClassEdit(name: "Waves")))
            // An assistant has chosen this already.
            try await ann.request(ChooseClassPushes(id, newSessions: true))
            try await ann.request(ChooseClassPushes(id, newSessions: false))
            try await prof.request(RemoveClassMember("ann", from: id))
            #expect(try await events.next(5, about: id) == ["ann", "ann", "prof", "ann", "ann"])
            _ = try await study.client.request(GiveClass(id, to: "eve"))
            let given = try await events.next(2, about: id)
            #expect(Set(given) == ["prof", "eve"])
        }
    }
}
