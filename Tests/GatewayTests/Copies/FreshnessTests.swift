import Testing

@testable import Gateway

@Suite("Freshness of the gateway's copies")
struct FreshnessTests {
    private let start = ContinuousClock.now
    private var freshness = Freshness<Int64>()

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test("A copy is fresh for a moment after it was read, and for as long as its version is confirmed")
    mutating func moment() {
        #expect(!freshness.isFresh(7, at: at(0)))
        freshness.read(7, asked: at(0))
        #expect(freshness.isFresh(7, at: at(2_400)))
        #expect(!freshness.isFresh(7, at: at(2_500)))
        freshness.announced(7, at: at(2_600))
        #expect(freshness.isFresh(7, at: at(5_000)))
        #expect(!freshness.isFresh(7, at: at(5_200)))
    }

    @Test("A copy is stale as soon as another version is announced: the next one, a later one, or a lower one of restored data")
    mutating func announcement() {
        for other: Int64 in [8, 9, 3] {
            freshness = Freshness()
            freshness.read(7, asked: at(0))
            freshness.announced(other, at: at(10))
            #expect(!freshness.isFresh(7, at: at(10)))
            freshness.read(other, asked: at(20))
            #expect(freshness.isFresh(other, at: at(30)))
        }
    }

    @Test("A client that has made a change sees it, even if an older read arrives afterwards")
    mutating func ownEdit() {
        freshness.read(7, asked: at(0))
        freshness.edited(8, at: at(10))
        #expect(!freshness.isFresh(7, at: at(10)))
        // Asked before the edit, answered after it.
        freshness.read(7, asked: at(5))
        #expect(!freshness.isFresh(7, at: at(15)))
        freshness.read(8, asked: at(20))
        #expect(freshness.isFresh(8, at: at(25)))
    }

    @Test("An announcement that arrives after a later one does not make an old copy fresh")
    mutating func overtaken() {
        freshness.read(5, asked: at(0))
        freshness.edited(6, at: at(10))
        freshness.announced(5, at: at(20))
        #expect(!freshness.isFresh(5, at: at(20)))
        freshness.read(6, asked: at(30))
        #expect(freshness.isFresh(6, at: at(30)))
    }

    @Test("The event of an edit that arrives after that of a later edit does not make the copy stale")
    mutating func lateEdit() {
        freshness.read(5, asked: at(0))
        for version: Int64 in [7, 6] { freshness.announced(version, byEdit: true, at: at(10)) }
        #expect(freshness.isFresh(7, at: at(20)) && !freshness.isFresh(6, at: at(20)))
    }

    @Test("A copy is fresh for a caller if it has the version that was the latest one when it was asked for")
    mutating func laterVersion() {
        freshness.read(5, asked: at(0))
        freshness.announced(8, at: at(10))
        for (copy, isFresh) in [(5, false), (6, true), (7, true), (8, true), (9, false)] as [(Int64, Bool)] {
            #expect(freshness.isFresh(copy, asOf: 6, at: at(20)) == isFresh, "\(copy)")
        }
        #expect(!freshness.isFresh(6, asOf: 6, at: at(2_600)))
    }

    @Test("A copy of another version than the latest is not fresh, whatever else was read")
    mutating func severalCopies() {
        freshness.read(7, asked: at(0))
        freshness.read(8, asked: at(10))
        #expect(!freshness.isFresh(7, at: at(20)))
        #expect(freshness.isFresh(8, at: at(20)))
        // Asked first, answered last.
        freshness.read(7, asked: at(5))
        #expect(!freshness.isFresh(7, at: at(20)))
        #expect(freshness.isFresh(8, at: at(20)))
    }
}
