import Schemas

/// The identity of a send: the key of the message or the push, and everything that FCM gets except the time to live.
struct SendKey: Hashable, Sendable {
    /// The `msi_key` of a message, or the id of a push.
    private let id: ObjectID
    /// A hash of the content. If a sender uses one key for several messages, or one message for several phones,
    /// each of them is sent.
    private let content: Int

    init(_ command: RelayMessage) {
        id = command.msiKey
        var hasher = Hasher()
        hasher.combine(command.timestamp)
        hasher.combine(command.draft.topicKey)
        hasher.combine(command.draft.distribution)
        hasher.combine(command.draft.options)
        hasher.combine(command.target)
        for text in [command.draft.title, command.draft.desc, command.draft.message] { hasher.combine(utf8: text) }
        content = hasher.finalize()
    }

    private init(id: ObjectID, content: Int) {
        self.id = id
        self.content = content
    }

    /// The keys of a push, one for each recipient, in their order. The message is hashed once: it may be large.
    static func keys(of push: RelayPush) -> [SendKey] {
        var common = Hasher()
        common.combine(push.message)
        return push.recipients.map { recipient in
            var hasher = common
            hasher.combine(recipient)
            return SendKey(id: push.pushID, content: hasher.finalize())
        }
    }
}

extension Hasher {
    /// Hashes the bytes, which is much faster than `String`'s Unicode-aware hashing.
    fileprivate mutating func combine(utf8 text: String) {
        combine(text.utf8.count)
        let isDone = text.utf8.withContiguousStorageIfAvailable { combine(bytes: UnsafeRawBufferPointer($0)) } != nil
        if !isDone { for byte in text.utf8 { combine(byte) } }
    }
}
