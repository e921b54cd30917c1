import Testing

@testable import Schemas

@Suite("Feature switches")
struct FeatureSwitchTests {
    private static let phones = (0..<20_000).map { "installation-\($0)" }

    private static func feature(_ share: Int?, _ group: FeatureGroup? = nil, _ name: String = "dark-cards", id: Int64 = 1) throws
        -> FeatureSwitch
    {
        let draft = BroadcastDraft(
            type: .nonDisplay, expiry: 60,
            actionData: BroadcastActionData(notificationType: .enableFeature, feature: name, share: share, group: group))
        let broadcast = Broadcast(draft, id: id, language: "en", sender: "ann", now: 1)
        return try #require(FeatureSwitch(PhoneBroadcast(broadcast)))
    }

    private static func included(_ feature: FeatureSwitch) -> Set<String> {
        Set(phones.filter { feature.includes(installation: $0) })
    }

    @Test("A share is that part of the phones, the same ones for each broadcast, and a larger one keeps them")
    func share() throws {
        let ten = Self.included(try Self.feature(10))
        #expect((1_800...2_200).contains(ten.count), "\(ten.count)")
        #expect(Self.included(try Self.feature(10, id: 99)) == ten)
        #expect(Self.included(try Self.feature(20)).isSuperset(of: ten))
        #expect(Self.included(try Self.feature(nil)).count == Self.phones.count)
        #expect(Self.included(try Self.feature(100)).count == Self.phones.count)
    }

    @Test("Group B has no phone of group A, and with halves all others")
    func groups() throws {
        let (a, b) = (Self.included(try Self.feature(10, .a)), Self.included(try Self.feature(10, .b)))
        #expect(a.isDisjoint(with: b) && (1_800...2_200).contains(b.count))
        let (half, rest) = (Self.included(try Self.feature(50, .a)), Self.included(try Self.feature(50, .b)))
        #expect(half.isDisjoint(with: rest) && half.count + rest.count == Self.phones.count)
    }

    @Test("Another feature takes other phones")
    func independent() throws {
        let both = Self.included(try Self.feature(10)).intersection(Self.included(try Self.feature(10, nil, "other")))
        // A tenth of a tenth.
        #expect((120...280).contains(both.count), "\(both.count)")
    }

    /// Apps of different versions must agree, so the buckets must never change.
    @Test("The buckets are fixed")
    func fixed() {
        let buckets = ["a", "b", "5a0187feff0dafac2833f401"].map { FeatureSwitch.bucket(of: $0, for: "dark-cards") }
        #expect(buckets == Self.fixedBuckets)
    }

    private static let fixedBuckets = [75, 99, 37]
}
