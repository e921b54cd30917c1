import Crypto
import CubeStorage
import JSON
import MessageStorage
import Schemas

/// A digest of a store's documents. Two stores with equal digests contain the same documents, in any order.
struct StoreDigest: Hashable, CustomStringConvertible {
    private(set) var count = 0
    /// The exclusive or of the documents' SHA-256. No document occurs twice, so documents do not cancel each other out.
    private var bytes = [UInt8](repeating: 0, count: SHA256.byteCount)

    mutating func add(_ document: some Encodable) throws {
        count += 1
        for (index, byte) in SHA256.hash(data: try JSONCoder.encode(document)).enumerated() {
            bytes[index] ^= byte
        }
    }

    /// The first eight bytes, which are enough to compare by eye.
    var description: String {
        bytes.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}

extension StoreDigest {
    /// The cube's channels and its version.
    init(of store: any CubeStore) async throws {
        let snapshot = try await store.snapshot()
        for channel in snapshot.channels { try add(channel) }
        try add(CubeChanged(version: snapshot.version))
        count = snapshot.channels.count
    }

    /// Every message.
    init(of store: any MessageStore) async throws {
        var pages = MessagePages(of: store)
        while let page = try await pages.next() {
            for message in page { try add(message) }
        }
    }
}

/// The whole archive, page by page, from the newest message to the oldest.
struct MessagePages {
    private static let size = 200

    private let store: any MessageStore
    private var cursor: PageCursor?

    init(of store: any MessageStore) {
        self.store = store
    }

    /// - Returns: `nil` after the last page.
    mutating func next() async throws -> [Message]? {
        let page = try await store.page(MessageFilter(), before: cursor, limit: Self.size)
        cursor = page.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) }
        return page.isEmpty ? nil : page
    }
}
