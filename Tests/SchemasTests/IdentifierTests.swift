import FoundationEssentials
import Schemas
import Testing
import Base

@Suite("ObjectIds and topic keys")
struct IdentifierTests {
    @Test("An ObjectId is written as 24 lower-case hexadecimal digits and read back")
    func roundTrip() throws {
        let identifier = ObjectID(seconds: 0x5a0b_0c0d)
        #expect(identifier.description.hasPrefix("5a0b0c0d"))
        #expect(identifier.description.count == 24)
        #expect(ObjectID(identifier.description) == identifier)
        #expect(ObjectID(identifier.description.uppercased()) == identifier)
        #expect(identifier.bytes.count == 12)
        #expect(identifier.bytes.prefix(4) == [0x5a, 0x0b, 0x0c, 0x0d])
        #expect(ObjectID(bytes: identifier.bytes) == identifier)
        #expect(ObjectID(bytes: identifier.bytes.dropLast()) == nil)
    }

    @Test("Identifiers that are made in one second are different, and sort in the order of their creation")
    func unique() {
        let identifiers = (0..<10_000).map { _ in ObjectID(seconds: 1) }
        #expect(Set(identifiers).count == identifiers.count)
        // The counter wraps once in 16 million: at most one step goes down.
        let steps = zip(identifiers, identifiers.dropFirst()).filter { $0 > $1 }.count
        #expect(steps <= 1)
    }

    @Test(
        "Any other text is not an ObjectId",
        arguments: [
            "", "5a", "5a0b0c0d5a0b0c0d5a0b0c0", "5a0b0c0d5a0b0c0d5a0b0c0d0", "5a0b0c0d5a0b0c0d5a0b0c0g",
            "٥a0b0c0d5a0b0c0d5a0b0c0",
        ])
    func notIdentifiers(text: String) {
        #expect(ObjectID(text) == nil)
    }

    @Test("A topic key is three ObjectIds joined by hyphens")
    func topicKey() throws {
        let key = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        #expect(key.description == "\(key.channel)-\(key.area)-\(key.subject)")
        #expect(TopicKey(key.description) == key)
        #expect(TopicKey("\(key.channel)-\(key.area)") == nil)
        #expect(TopicKey("\(key)-\(key.area)") == nil)
        #expect(TopicKey("--") == nil)
    }

    @Test("A page cursor is a timestamp and a msi_key")
    func cursor() {
        let cursor = PageCursor(timestamp: 1_763_712_000_123, msiKey: ObjectID())
        #expect(PageCursor(cursor.description) == cursor)
        #expect(PageCursor("x-\(cursor.msiKey)") == nil)
        #expect(PageCursor("-1-\(cursor.msiKey)") == nil)
        #expect(PageCursor("9223372036854775807-\(cursor.msiKey)") == nil)
        #expect(PageCursor("99999999999999999999-\(cursor.msiKey)") == nil)
    }

    @Test(
        "A moment that is too far away ends at the extremes",
        arguments: [UnixMilliseconds.max, UnixMilliseconds(rawValue: .min)])
    func farMoments(moment: UnixMilliseconds) {
        #expect(Date(moment).unixMilliseconds == moment)
        let second: Milliseconds = 1_000
        #expect(moment.rawValue > 0 ? moment + second == moment : moment - second == moment)
    }
}
