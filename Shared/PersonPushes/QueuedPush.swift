import FoundationEssentials
package import Schemas
import Store

/// A push to persons that the outbox has not stored yet. It was added in the transaction of what it is about.
package struct QueuedPush: StoredDocument, Hashable {
    /// The push's idempotency key.
    package let id: String
    /// ``LogPush`` as JSON.
    private var command: String
    /// The person who gets it, by the account's name in lower case; `nil` if there may be several.
    package let account: String?
    package let at: UnixMilliseconds
    /// When `msi restore` put it back from a backup; `nil` for a push of this life of the data. It may have been sent after the backup was
    /// made.
    package var restored: UnixMilliseconds?

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case command, account, at, restored
    }

    /// - Parameters:
    ///   - account: The only person who gets it; `nil` if there may be several.
    ///   - now: When it is queued.
    /// - Throws: ``SchemaViolation`` for a push that the outbox would refuse.
    package init(_ push: LogPush, for account: AccountName? = nil, at now: UnixMilliseconds) throws {
        try push.check()
        id = push.idempotencyKey
        command = try Self.text(of: push)
        self.account = account?.key
        at = now
        restored = nil
    }

    /// The command for the outbox.
    ///
    /// - Throws: ``SchemaViolation`` if another program has changed it.
    package var push: LogPush {
        get throws { try LogPush(payload: Data(command.utf8)) }
    }

    /// Whether a person gets it. One that cannot be read may be anybody's.
    package func isFor(_ account: AccountName) -> Bool {
        guard let push = try? push else { return true }
        return push.accounts?.contains(account) ?? false
    }

    /// The push without a person; `nil` if nobody is left, or it cannot be read.
    package func without(_ account: AccountName) -> QueuedPush? {
        guard let push = try? push, let kind = push.kind, let message = try? PersonPush(push.message) else { return nil }
        let others = (push.accounts ?? []).filter { $0 != account }
        guard !others.isEmpty else { return nil }
        var left = self
        do {
            let shorter = try LogPush(
                idempotencyKey: push.idempotencyKey, accounts: others, kind: kind, except: push.exceptDevice,
                fairnessKey: push.fairnessKey, message: message, expires: push.expires, notBefore: push.notBefore)
            left.command = try Self.text(of: shorter)
        } catch {
            return nil
        }
        return left
    }

    private static func text(of push: LogPush) throws -> String { String(decoding: try push.payload(), as: UTF8.self) }
}
