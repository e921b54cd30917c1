import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    /// What gateways learn of devices.
    @Suite("Ends of devices, and the keys of their tokens", .timeLimit(.minutes(10)))
    struct DeviceEndTests {
        @Test("The numbers of ends grow with the time, and pages have all ends", arguments: StoreKind.allCases)
        func numbers(kind: StoreKind) async throws {
            try await RunningPeople.with(kind) { people in
                let before = UnixMilliseconds.now.rawValue
                let ann = try await people.signedIn("ann")
                _ = try await people.client.request(EndDevice(ann.id, of: "ann"), context: ann.context)
                _ = try await people.client.request(EndDevice(nil, of: "ann"), context: ann.context)
                let changes = try await people.deviceChanges()
                #expect(changes.after == 0 && changes.more == nil && changes.ended.count == 2)
                #expect(changes.ended[0].device == ann.id && changes.ended[1].account == "ann")
                #expect(changes.ended[0].number >= before && changes.ended[1].number > changes.ended[0].number)
                #expect(changes.sequence == changes.ended[1].number)
                let later = try await people.deviceChanges(after: changes.ended[0].number)
                #expect(later.ended == [changes.ended[1]])
                let none = try await people.deviceChanges(after: changes.sequence)
                #expect(none.ended.isEmpty && none.sequence == changes.sequence && none.keys == changes.keys)
            }
        }

        @Test("The numbers grow after the clock was set back, and an end is forgotten after thirteen hours")
        func expiry() async throws {
            let clock = TestClock()
            try await RunningPeople.with(.sqlite, clock: clock) { people in
                let ann = try await people.signedIn("ann")
                _ = try await people.client.request(EndDevice(ann.id, of: "ann"), context: ann.context)
                let first = try #require(try await people.deviceChanges().ended.first)
                clock.pass(.seconds(-3_600))
                _ = try await people.client.request(EndDevice(nil, of: "ann"), context: ann.context)
                let second = try #require(try await people.deviceChanges(after: first.number).ended.first)
                #expect(second.number == first.number + 1 && second.at == clock.now)
                clock.pass(.seconds(3_600) + PersonLimits.endedTime)
                #expect(try await people.deviceChanges().ended.isEmpty)
            }
        }

        @Test("The event tells of each end at once, and is repeated with the latest ones")
        func event() async throws {
            try await RunningPeople.with(.sqlite) { people in
                let ann = try await people.signedIn("ann")
                let events = try await people.listen(to: DevicesChanged.self, DevicesChanged.name)
                _ = try await people.client.request(EndDevice(ann.id, of: "ann"), context: ann.context)
                var seen = 0
                for await event in events where event.ended.map(\.device) == [ann.id] {
                    #expect(!event.keys.isEmpty)
                    seen += 1
                    if seen == 2 { break }
                }
                #expect(seen == 2)
            }
        }

        @Test("A new key signs a minute after it is announced; the one before counts as long as its tokens do")
        func rotation() async throws {
            let clock = TestClock()
            try await RunningPeople.withAdmin(.sqlite, clock: clock) { people in
                let ann = try await people.signedIn("ann")
                func key(_ token: Secret) -> String? {
                    let head = token.text.split(separator: ".").first.flatMap { Data(base64URL: $0) }
                    return head.flatMap { try? JSONCoder.decode(JSONValue.self, from: $0) }?["kid"]?.string
                }
                let first = try #require(key(ann.signedIn.token))
                let second = try await people.client.request(RotateDeviceTokenKey())
                #expect(try await people.deviceChanges().keys.map(\.id) == [first, second.id])
                #expect(try await key(ann.token().token) == first)
                clock.pass(.seconds(60))
                #expect(try await key(ann.token().token) == second.id)

                let third = try await people.client.request(RotateDeviceTokenKey(forget: true))
                #expect(try await people.deviceChanges().keys == [third])
                #expect(try await key(ann.token().token) == third.id)
                var filter = AuditFilter()
                filter.action = RotateDeviceTokenKey.name
                let entries = try await people.client.request(ListAuditEntries(limit: 10, filter: filter)).entries.map(\.entry)
                #expect(entries.map(\.object.id) == [third.id, second.id] && entries.allSatisfy { $0.after == nil })
            }
        }

        @Test(
            "Keys are replaced after thirty days, and removed thirteen hours after their last token",
            arguments: StoreKind.ofRules)
        func age(kind: StoreKind) async throws {
            try await withPeopleChanges(kind) { changes, clock in
                let tokens = DeviceTokens(changes: changes, logger: quietLogger)
                func keys() async throws -> [ObjectID] { try await changes.store.snapshot { try $0.tokenKeys().map(\.id) } }
                func signing() async throws -> ObjectID {
                    try await changes.store.snapshot { [now = clock.now] in try $0.signingKey(at: now).id }
                }
                try await tokens.maintain()
                try await tokens.maintain()
                let first = try #require(try await keys().first)
                #expect(try await keys() == [first])
                clock.pass(PersonLimits.tokenKeyTime)
                try await tokens.maintain()
                let second = try #require(try await keys().last)
                #expect(try await keys() == [first, second])
                #expect(try await signing() == first)
                clock.pass(.seconds(60))
                try await tokens.maintain()
                #expect(try await keys() == [first, second])
                #expect(try await signing() == second)
                clock.pass(PersonLimits.endedTime - .seconds(1))
                try await tokens.maintain()
                #expect(try await keys() == [first, second])
                clock.pass(.seconds(1))
                try await tokens.maintain()
                #expect(try await keys() == [second])
                #expect(try await signing() == second)
                // The clock was ahead, and is set back.
                clock.pass(.seconds(-86_400 * 60))
                #expect(try await signing() == second)
            }
        }

        @Test("A damaged key is left out: tokens end, and another key signs", arguments: StoreKind.ofRules)
        func damagedKey(kind: StoreKind) async throws {
            try await withPeopleChanges(kind) { changes, clock in
                let json = #"{"_id":"\#(ObjectID())","private_key":"AAAA","created":1,"signs_from":1}"#
                let damaged = try JSONCoder.decode(TokenKeyDocument.self, from: Data(json.utf8))
                try await changes.store.insert(damaged, into: PeopleStore.tokenKeys)
                let ended = try await changes.store.transaction { [now = clock.now] in try $0.end([.account("ann")], at: now) }
                #expect(ended.keys.isEmpty && ended.ended.count == 1)
                try await DeviceTokens(changes: changes, logger: quietLogger).maintain()
                let keys = try await changes.store.snapshot { try $0.announcedKeys().map(\.id) }
                #expect(keys.count == 1 && keys != ["\(damaged.id)"])
                let signing = try await changes.store.snapshot { [now = clock.now] in try $0.signingKey(at: now).id }
                #expect(keys == ["\(signing)"])
            }
        }

        @Test("A super user's sign-out of a person's devices is in the audit log, the person's own is not")
        func audit() async throws {
            try await RunningPeople.withAdmin(.sqlite) { people in
                let ann = try await people.signedIn("ann")
                let other = try await people.signIn(RunningPeople.password(of: "ann"))
                _ = try await people.client.request(EndDevice(ann.id, of: "ann"), context: ann.context)
                let root = try await people.signIn()
                let caller = CallerContext(actor: "admin", address: "192.0.2.1", credential: root.hash)
                _ = try await people.client.request(EndDevice(nil, of: "ann"), context: caller)
                #expect(try await other.refusal()?.field == "device")
                var filter = AuditFilter()
                filter.object = "ann"
                let entries = try await people.client.request(ListAuditEntries(limit: 10, filter: filter)).entries.map(\.entry)
                #expect(entries.map(\.action) == [EndDevice.name] && entries.first?.before == ["device": "all"])
                #expect(entries.first?.actor == "admin")
                try await people.add("ben")
                let bens = CallerContext(actor: "ben", address: "192.0.2.1", credential: try await people.signIn("ben").hash)
                #expect(await people.client.failure(of: EndDevice(nil, of: "ann"), context: bens)?.status == .forbidden)
            }
        }
    }
}
