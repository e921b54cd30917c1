import Storage

/// Copies stores from one database to the other.
///
/// It can be interrupted at any time and run again. If a target contains anything but an earlier copy, it is refused before anything
/// is written. At the end both sides are read and compared.
struct Migration {
    let moves: [any StoreMove]
    /// Reports the progress to the operator.
    let report: (String) -> Void

    /// - Throws: ``MigrationFailure`` if a target contains something else, or differs at the end; ``CommandFailure`` if a store
    ///   cannot be used.
    func run() async throws {
        for move in moves { try await move.checkTarget() }
        for move in moves { try await move.copy(report: report) }
        for move in moves {
            for comparison in try await move.compare() { report(try comparison.report) }
        }
    }
}
