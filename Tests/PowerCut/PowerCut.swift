import FoundationEssentials
import SeededRandom

/// What a power cut leaves of the changes that were not synced.
///
/// A disk may write what it has cached in any order, and cut a write off between two sectors. A file system keeps the names in a
/// folder in order.
package struct PowerCut: Sendable {
    private static let sector = 512

    /// `nil` keeps nothing.
    private var random: SeededGenerator?

    /// Leaves nothing of them: what POSIX allows.
    package static let losesAllUnsynced = PowerCut(random: nil)

    /// Leaves some of them, by chance: the same ones for the same seed.
    package static func keepsSome(seed: UInt64) -> PowerCut {
        PowerCut(random: SeededGenerator(seed: seed))
    }

    /// What is left of a change to a file's content; `nil` for nothing.
    mutating func remains(of change: RecordedFile.Change) -> RecordedFile.Change? {
        guard var random else { return nil }
        defer { self.random = random }
        guard Bool.random(using: &random) else { return nil }
        guard case .write(let offset, let data) = change, Bool.random(using: &random) else { return change }
        let end = (offset / Self.sector + Int.random(in: 0...data.count / Self.sector + 1, using: &random)) * Self.sector
        return end <= offset ? nil : .write(offset: offset, data: data.prefix(end - offset))
    }

    /// How many of the changes to the names in one folder are left, from the first on.
    mutating func remains(ofNameChanges count: Int) -> Int {
        guard var random else { return 0 }
        defer { self.random = random }
        return Int.random(in: 0...count, using: &random)
    }
}
