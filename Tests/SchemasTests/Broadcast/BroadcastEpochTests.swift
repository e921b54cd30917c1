import Base
import Testing

@testable import Schemas

@Suite("The epoch of broadcasts")
struct BroadcastEpochTests {
    @Test(
        "The seed's format in several time zones",
        arguments: [
            ("2016-08-29T02:40:33+0530", 1_472_418_633_000), ("2016-08-28T21:10:33+0000", 1_472_418_633_000),
            ("2016-08-28T14:10:33-0700", 1_472_418_633_000), ("2016-08-29T02:55:33+0545", 1_472_418_633_000),
            ("2016-08-28T17:40:33-0330", 1_472_418_633_000), ("2016-08-29T11:10:33+1400", 1_472_418_633_000),
            ("1970-01-01T00:00:00+0000", 0), ("2024-02-29T23:59:59+0000", 1_709_251_199_000),
        ] as [(String, Int64)])
    func zones(text: String, moment: Int64) throws {
        let epoch = try #require(BroadcastEpoch(text))
        #expect(epoch.moment.rawValue == moment && epoch.description == text)
    }

    @Test("Around a change to daylight saving time, the offset decides")
    func daylightSaving() throws {
        // Berlin, 29 March 2026: 01:59:59 is followed by 03:00:00.
        let before = try #require(BroadcastEpoch("2026-03-29T01:59:59+0100"))
        let after = try #require(BroadcastEpoch("2026-03-29T03:00:00+0200"))
        #expect(after.moment - before.moment == 1_000)
        // 25 October 2026: 02:30 is there twice, an hour apart.
        let first = try #require(BroadcastEpoch("2026-10-25T02:30:00+0200"))
        let second = try #require(BroadcastEpoch("2026-10-25T02:30:00+0100"))
        #expect(second.moment - first.moment == 3_600_000)
    }

    @Test("Z and an offset with a colon are read, and written in the seed's format")
    func otherSpellings() {
        #expect(BroadcastEpoch("2016-08-28T21:10:33Z")?.text == "2016-08-28T21:10:33+0000")
        #expect(BroadcastEpoch("2016-08-29T02:40:33+05:30")?.text == "2016-08-29T02:40:33+0530")
    }

    @Test(
        "What is no time of the format is refused",
        arguments: [
            "", "2016-02-30T02:40:33+0530", "2015-02-29T00:00:00+0000", "2016-08-29T25:40:33+0530", "2016-08-29T02:60:33+0530",
            "2016-08-29 02:40:33+0530", "2016-08-29T02:40:33", "2016-08-29T02:40:33+0530 x", "2016-08-29T02:40:33+05:3",
            "2016-08-29T02:40:33+0560", "2016-08-29T02:40:33+1900", "1472418633", "16-08-29T02:40:33+0530",
            "2016-8-29T02:40:33+0530", "1969-12-31T23:59:59+0000", "2016-08-29T02:40:33-0000",
        ])
    func refused(text: String) {
        #expect(BroadcastEpoch(text) == nil)
    }

    @Test(
        "A moment is written with its offset",
        arguments: [(19_800, "2016-08-29T02:40:33+0530"), (-12_600, "2016-08-28T17:40:33-0330"), (0, "2016-08-28T21:10:33+0000")])
    func written(offset: Int, text: String) {
        #expect(BroadcastEpoch(1_472_418_633_999, offset: offset).text == text)
    }
}
