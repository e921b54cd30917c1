import CubeStorage
import MessageStorage
import Schemas

/// Copies the cube and the archive from one pair of stores to another.
///
/// It can be interrupted at any time and run again. Messages that are copied already are kept, or updated if their relay record
/// has changed meanwhile. If the target contains anything but an earlier copy, it is refused before anything is written. At the
/// end both sides are read and compared.
struct Migration {
    let cubes: (source: any CubeStore, target: any CubeStore)
    let archives: (source: any MessageStore, target: any MessageStore)
    /// Advice for the operator if the target contains something else.
    let otherTarget: String
    /// Reports the progress to the operator.
    let report: (String) -> Void

    /// The number of messages between two reports.
    private static let reportEvery = 10_000

    /// - Throws: ``MigrationFailure`` if the target contains something else, or differs at the end; ``CommandFailure`` if a store
    ///   cannot be used.
    func run() async throws {
        try await TargetCheck(cubes: cubes, archives: archives, otherTarget: otherTarget).run()
        do {
            try await cubes.target.restore(try await cubes.source.snapshot())
        } catch let failure as CommandFailure where failure.status == .conflict {
            throw MigrationFailure("the cube cannot be copied: \(failure.message)")
        }
        let copied = try await copyMessages()
        report("messages: \(copied) copied now; comparing both sides")
        try compare(
            "cube", try await StoreDigest(of: cubes.source), try await StoreDigest(of: cubes.target), of: "channels")
        try compare(
            "messages", try await StoreDigest(of: archives.source), try await StoreDigest(of: archives.target), of: "messages")
    }

    /// - Returns: How many were new in the target.
    private func copyMessages() async throws -> Int {
        var pages = MessagePages(of: archives.source)
        var (read, copied) = (0, 0)
        while let page = try await pages.next() {
            let target = archives.target
            copied += try await withThrowingTaskGroup(of: Bool.self) { group in
                for message in page {
                    group.addTask { try await Self.copy(message, to: target) }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            read += page.count
            if read % Self.reportEvery < page.count { report("messages: \(read) read, \(copied) copied") }
        }
        return copied
    }

    /// - Returns: Whether it was new in the target.
    private static func copy(_ message: Message, to target: any MessageStore) async throws -> Bool {
        guard let known = try await target.insert(message) else { return true }
        guard known != message else { return false }
        guard known.msiKey == message.msiKey else {
            throw MigrationFailure(
                "message \(message.msiKey) of the source has its sender's idempotency key from message \(known.msiKey) of the target"
            )
        }
        guard known.id == message.id else {
            throw MigrationFailure(
                "the source has two messages with the msi_key \(message.msiKey), _id \(known.id) and \(message.id); remove one of them"
            )
        }
        try await target.update(message.msiKey) { record, stored in
            if let objection = stored.objection(toBecoming: message) {
                throw MigrationFailure("another process is writing to the target: \(objection)")
            }
            record = message.relay
        }
        return false
    }

    private func compare(_ name: String, _ source: StoreDigest, _ target: StoreDigest, of things: String) throws {
        guard source == target else {
            throw MigrationFailure(
                "\(name): the source has \(source.count) \(things) with digest \(source), the target \(target.count) with digest "
                    + "\(target). Another process has written to one of them during the copy: stop all services on every machine, and "
                    + "copy again")
        }
        report("\(name): \(source.count) \(things), digest \(source), the same on both sides")
    }
}

/// Why a migration failed.
struct MigrationFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
