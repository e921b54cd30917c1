import AuditTrail
import Schemas

/// What a restore knows of the persons who were erased since the backup, and says to the operator.
struct RestoredErasures: Codable, Hashable, Sendable {
    /// Whether the state directory had a log of erasures, with those after the backup. A log without a line of the backup is that of
    /// another machine, or older than the backup.
    let knowsLater: Bool
    /// How many erasures ran beside the backup: its stores may each have another state of these persons.
    let beside: Int

    private enum CodingKeys: String, CodingKey {
        case beside
        case knowsLater = "knows_later"
    }

    init(knowsLater: Bool, beside: Int) {
        self.knowsLater = knowsLater
        self.beside = beside
    }

    /// - Parameters:
    ///   - copies: The folder with the files of the backup.
    ///   - folder: The state directory, in which nothing is changed yet.
    /// - Returns: `nil` for a backup without a log of erasures. Its version had no persons to erase.
    init?(_ manifest: BackupManifest, in copies: String, to folder: String) throws {
        guard manifest.files.contains(where: { $0.name == ErasureLog.name }) else { return nil }
        let log = ErasureLog(stateDirectory: folder)
        let known = Set(try log.lines().map(\.digest))
        let copied = try ErasureLog(stateDirectory: copies).lines()
        knowsLater = log.exists && copied.allSatisfy { known.contains($0.digest) }
        beside = copied.count { $0.at.seconds >= manifest.begun.seconds }
    }

    /// - Parameter begun: When the backup was begun.
    func lines(begun: String) -> [String] {
        var lines: [String] = []
        if !knowsLater {
            lines.append(
                "erasures after \(begun) are not known here: copy \(ErasureLog.name) from the earlier machine before the start, or erase "
                    + "these persons again (msi account erase)")
        }
        if beside > 0 {
            let (persons, areErased) = beside == 1 ? ("1 person was", "is") : ("\(beside) persons were", "are")
            lines.append(
                "\(persons) erased beside the backup, and \(areErased) erased again at the start: msi account erased shows whether that "
                    + "is done")
        }
        return lines
    }
}
