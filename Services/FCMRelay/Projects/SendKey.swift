import Schemas

/// What makes two commands the same: the message's key, and all that FCM is told but for how long it keeps it.
struct SendKey: Hashable, Sendable {
    private let msiKey: ObjectID
    /// A hash: a sender that uses a key for two messages, or one message for several phones, has each of them sent.
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
    /// By the bytes alone, which is much quicker than what makes equal texts of different bytes the same.
    fileprivate mutating func combine(utf8 text: String) {
        combine(text.utf8.count)
        let isDone = text.utf8.withContiguousStorageIfAvailable { combine(bytes: UnsafeRawBufferPointer($0)) } != nil
        if !isDone { for byte in text.utf8 { combine(byte) } }
    }
}
