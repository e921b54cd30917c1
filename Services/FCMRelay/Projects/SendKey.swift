import Schemas

/// The identity of a command: the message's key, and everything that FCM gets except the time to live.
struct SendKey: Hashable, Sendable {
    private let msiKey: ObjectID
    /// A hash of the content. If a sender uses one key for several messages, or one message for several phones, each of them is
    /// sent.
    private let content: Int

    init(_ command: RelayMessage) {
        msiKey = command.msiKey
        var hasher = Hasher()
        hasher.combine(command.timestamp)
        hasher.combine(command.draft.topicKey)
        hasher.combine(command.draft.distribution)
        hasher.combine(command.draft.options)
        hasher.combine(command.target)
        for text in [command.draft.title, command.draft.desc, command.draft.message] { hasher.combine(utf8: text) }
        content = hasher.finalize()
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
