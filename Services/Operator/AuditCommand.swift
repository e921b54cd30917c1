import ArgumentParser
import AuditTrail
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

/// `msi audit`: the audit log of a running product.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Verifies the audit log, while the product runs.", subcommands: [VerifyAuditCommand.self])
}

/// `msi audit verify`.
struct VerifyAuditCommand: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Recomputes every hash of the audit log, and names the first broken entry.",
        discussion: """
            A person who can write to the database could \
            recompute all hashes. So the people service writes the newest number and hash every hour to audit-heads.log in its \
            state directory. If that file is there, the audit log is compared with it. Keep a copy of it elsewhere, and name the copy \
            with --heads.

            Exit status: 0 if the log is whole, 1 if an entry was changed, removed, inserted or cut off at the end, 66 if a file cannot \
            be read, 70 if the people service cannot read the log, 75 if it does not answer or has too much to do, 78 if a setting is wrong.
            """)

    /// The status 1 is for a broken log alone.
    static let refused = EX_SOFTWARE

    @Option(
        name: .customLong("heads"), parsing: .singleValue,
        help: ArgumentHelp(
            "A file with numbers and hashes: a copy of audit-heads.log, or of the log of the people service; may be repeated.",
            valueName: "file"))
    var files: [String] = []

    @Option(
        name: .customLong("hash"), parsing: .singleValue,
        help: ArgumentHelp("A number and its hash from the log of the people service; may be repeated.", valueName: "N:HEX"))
    var logged: [AuditHead] = []

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let heads = try logged + headsInFiles(stateDirectory: settings.value(.stateDirectory))
        var verification = AuditVerification(logged: heads)
        do {
            var after: String?
            repeat {
                let page = try await people.request(ReadAuditChain(after: after))
                try verification.verify(page)
                after = page.next
            } while after != nil
        } catch let fault as AuditFault {
            throw StartFailure(description: "the audit log is broken: \(fault)")
        }
        let head = verification.verified
        let comparison =
            heads.isEmpty
            ? "there is nothing to compare it with: the people service logs a hash each hour, and has logged none since the first entry"
            : "it agrees with \(heads.count) logged \(heads.count == 1 ? "hash" : "hashes")"
        return "the audit log is whole: \(head.number) entries, the newest is \(head.number):\(head.hash); \(comparison)"
    }

    /// The numbers and hashes in the named files, and in that of the state directory, if it is there.
    private func headsInFiles(stateDirectory: String) throws -> [AuditHead] {
        let own = AuditHeadFile(stateDirectory: stateDirectory).path
        let paths = files + (FileManager.default.fileExists(atPath: own) ? [own] : [])
        return try paths.flatMap { path in
            do {
                return AuditHeadFile.heads(in: String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
            } catch {
                throw UnreadableFile(path: path)
            }
        }
    }
}

/// A file that was named on the command line, or belongs to the product, and cannot be read.
struct UnreadableFile: Error, CustomStringConvertible {
    let path: String

    var description: String { "\(path) cannot be read" }
}

extension AuditHead: ExpressibleByArgument {
    /// Reads `N:HEX`, as the people service logs it.
    public init?(argument: String) { self.init(argument) }
}
