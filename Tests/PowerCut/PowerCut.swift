import FoundationEssentials
import Base

/// Decides which unsynced changes survive a power cut.
///
/// A disk may write its cache in any order, and interrupt a write between two sectors. A file system applies changes of a
/// folder's names in order.
package struct PowerCut: Sendable {
    private static let sector = 512

    /// `nil` keeps nothing.
    private var random: SeededGenerator?

    /// No unsynced change survives, as POSIX allows.
    package static let losesAllUnsynced = PowerCut(random: nil)

    /// Random unsynced changes survive; the same ones for the same seed.
    package static func keepsSome(seed: UInt64) -> PowerCut {
        PowerCut(random: SeededGenerator(seed: seed))
    }

    /// The surviving part of a change of a file's content; `nil` for none.
    mutating func remains(of change: RecordedFile.Change) -> RecordedFile.Change? {
        guard var random else { return nil }
        defer { self.random = random }
        guard Bool.random(using: &random) else { return nil }
        guard case .write(let offset, let data) = change, Bool.random(using: &random) else { return change }
        let end = (offset / Self.sector + Int.random(in: 0...data.count / Self.sector + 1, using: &random)) * Self.sector
        return end <= offset ? nil : .write(offset: offset, data: data.prefix(end - offset))
    }

    /// How many of the changes of one folder's names survive, counted from the first.
    mutating func remains(ofNameChanges count: Int) -> Int {
        guard var random else { return 0 }
        defer { self.random = random }
        return Int.random(in: 0...count, using: &random)
    }
}
