import Base
import Schemas
import Store

/// The end of a device, or of all devices of an account, for the gateways (``EndedTokens``).
struct TokenEndDocument: StoredDocument, Hashable {
    let id: ObjectID
    let number: Int64
    let at: UnixMilliseconds
    let device: ObjectID?
    let account: AccountName?
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case number, at, device, account, expires
    }

    init(_ ended: EndedTokens) {
        id = ObjectID()
        number = ended.number
        at = ended.at
        device = ended.device
        account = ended.account
        expires = ended.at + PersonLimits.endedTime
    }

    fileprivate var ended: EndedTokens? {
        if let device { return EndedTokens(number: number, at: at, device: device) }
        return account.map { EndedTokens(number: number, at: at, account: $0) }
    }
}

extension PeopleStore {
    static let tokenEndNumber = Field("number", \TokenEndDocument.number)
    static let tokenEndExpiry = Field("expires", \TokenEndDocument.expires)

    static let tokenEnds = Collection<TokenEndDocument>(
        "token_end", indexes: [.unique(tokenEndNumber), .expiring(tokenEndExpiry)], reserve: .everything)
}

/// Whose tokens end.
enum TokenOwner: Hashable, Sendable {
    case device(ObjectID)
    case account(AccountName)

    fileprivate func ended(_ number: Int64, at now: UnixMilliseconds) -> EndedTokens {
        switch self {
        case .device(let id): EndedTokens(number: number, at: now, device: id)
        case .account(let name): EndedTokens(number: number, at: now, account: name)
        }
    }
}

extension Transaction {
    /// Stores ends.
    ///
    /// - Returns: What gateways must learn of.
    func end(_ owners: [TokenOwner], at now: UnixMilliseconds) throws -> DevicesChanged {
        let counter = try get(ChangeCounter.devices, from: PeopleStore.counter)?.document
        let last = counter?.sequence ?? 0
        // They grow with the time, so that none is given again after an older backup was restored.
        let first = max(last + 1, now.rawValue)
        let ended = zip(first..., owners).map { $1.ended($0, at: now) }
        if let sequence = ended.last?.number {
            // First, so that of two simultaneous changes one waits here, or is repeated.
            if counter == nil {
                try insert(ChangeCounter(id: ChangeCounter.devices, sequence: sequence), into: PeopleStore.counter)
            } else {
                try update(ChangeCounter.devices, in: PeopleStore.counter) { $0.sequence = sequence }
            }
        }
        for end in ended { try insert(TokenEndDocument(end), into: PeopleStore.tokenEnds) }
        return DevicesChanged(after: last, ended: ended, keys: try announcedKeys())
    }
}

extension ReadDeviceChanges {
    func answer(from transaction: Transaction) throws -> DevicesChanged {
        let query = Query(where: PeopleStore.tokenEndNumber > after, order: .ascending(PeopleStore.tokenEndNumber))
        let page = try transaction.page(of: PeopleStore.tokenEnds, query, limit: DevicesChanged.maxEnds)
        return DevicesChanged(
            after: after, ended: page.documents.compactMap(\.document.ended), more: page.next != nil,
            keys: try transaction.announcedKeys())
    }
}

extension DevicesChanged {
    /// The latest ``maxRepeated`` ends, for the event that is published periodically.
    static func latest(in transaction: Transaction) throws -> DevicesChanged {
        let query = Query(order: Order<TokenEndDocument>.descending(PeopleStore.tokenEndNumber))
        let page = try transaction.page(of: PeopleStore.tokenEnds, query, limit: maxRepeated + 1)
        let ends = page.documents.map(\.document)
        // Earlier ones than these have expired, unless there are too many.
        let earlier = ends.count > maxRepeated ? ends.last?.number : nil
        return DevicesChanged(
            after: earlier ?? 0, ended: ends.prefix(maxRepeated).reversed().compactMap(\.ended),
            keys: try transaction.announcedKeys())
    }
}

extension ChangeCounter {
    /// The counter of ``TokenEndDocument``.
    static let devices = "device"
}
