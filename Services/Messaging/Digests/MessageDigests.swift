import Base
import Crypto
import FoundationEssentials
import Schemas
import Store
import Synchronization

/// Knows the key of the digests, which is in the store.
final class MessageDigests: Sendable {
    private let store: Storage
    /// The key never changes.
    private let known = Mutex<MessageDigest?>(nil)

    init(store: Storage) {
        self.store = store
    }

    /// The first call makes the key. All instances of the service use the same one.
    func digest() async throws -> MessageDigest {
        if let digest = known.withLock(\.self) { return digest }
        let digest = MessageDigest(key: try await makeKey())
        known.withLock { $0 = digest }
        return digest
    }

    private func makeKey() async throws -> SymmetricKey {
        if let key = try await storedKey() { return key }
        let random = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        let new = DigestKeyDocument(id: DigestKeyDocument.id, bytes: random.base64EncodedString())
        do {
            return try await store.insert(new, into: MessagingStore.keys).document.key
        } catch let failure as CommandFailure where failure.status == .conflict {
            // Another instance was faster.
            guard let key = try await storedKey() else { throw failure }
            return key
        }
    }

    private func storedKey() async throws -> SymmetricKey? {
        try await store.get(DigestKeyDocument.id, from: MessagingStore.keys)?.document.key
    }
}

extension DigestKeyDocument {
    /// - Throws: ``CommandFailure`` with `internal` if the document is damaged.
    fileprivate var key: SymmetricKey {
        get throws(CommandFailure) {
            guard let data = Data(base64Encoded: bytes), data.count == 32 else {
                throw CommandFailure(.internal, "the key in messaging_key is damaged")
            }
            return SymmetricKey(data: data)
        }
    }
}

/// Makes keyed digests (HMAC-SHA256) of messages. They say nothing to anybody without the key, and with it only whether a message
/// was this one.
struct MessageDigest: Sendable {
    /// What a message says.
    enum Content: Sendable {
        case text(String)
        /// The SHA-256 of its bytes, in hexadecimal digits.
        case picture(String)

        fileprivate var line: String {
            switch self {
            case .text(let text): "text \(SHA256.hash(data: Data(text.utf8)).hexadecimal)"
            case .picture(let hash): "picture \(hash)"
            }
        }
    }

    private let key: SymmetricKey

    fileprivate init(key: SymmetricKey) {
        self.key = key
    }

    /// The digest of a message, in hexadecimal digits.
    func text(of message: DirectMessageDocument) -> String {
        let content = message.picture.map { Content.picture($0.picture) } ?? .text(message.text ?? "")
        return text(
            of: content, message.id, from: message.from, to: message.to, number: message.number, at: message.at)
    }

    /// The digest of a message of which the content alone comes from somebody else.
    ///
    /// - Parameters:
    ///   - from: The sender and the recipient, in lower case.
    ///   - number: ``DirectMessageDocument/number``.
    func text(
        of content: Content, _ message: ObjectID, from: String, to: String, number: Int64, at: UnixMilliseconds
    ) -> String {
        let lines = ["msi message", "\(message)", from, to, "\(number)", "\(at)", content.line]
        return code(of: lines.joined(separator: "\n")).hexadecimal
    }

    /// What stands for the messages of a conversation to one of its persons, in the log of removed messages: half of a digest.
    func place(_ conversation: String, to account: String) -> String {
        code(of: "\(conversation)\n\(account)").prefix(16).hexadecimal
    }

    private func code(of text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
    }
}
