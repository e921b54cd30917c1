import GRDB
import Base
import Schemas

/// A broadcast that the phone has stored, or removed because it was withdrawn.
public struct BroadcastArrival: Hashable, Sendable {
    public let id: Int64
    public let version: Int64
    public let isWithdrawn: Bool
}

/// What the app does without a request of the screen.
extension Broadcasts {
    private static let path = "/broadcast/active"
    /// The maximum number of channels in a request (the hub's `GET /broadcast/active`).
    private static let maxChannels = 200
    private static let installedMemory = "installed"
    /// The latest requests, and the entity tags of their answers: one a line.
    private static let askedMemory = "broadcasts asked"
    private static let tagMemory = "broadcasts tag"
    private static let announcedMemory = "announced broadcasts"

    /// The app is started: from the first time on, the hours of local broadcasts count.
    func started() async throws {
        let now = clock.now
        try await database.db.write { db in
            if try db.memory(Self.installedMemory) == nil { try db.keep("\(now)", as: Self.installedMemory) }
            // The clock may be wrong: the hub is to send again what it still has.
            if try BroadcastMemory.clearOld(at: now, db) { try db.keep(nil, as: Self.tagMemory) }
        }
    }

    /// When the app was started for the first time, in Unix milliseconds.
    func installed() async throws -> Int64? {
        try await database.db.read { db in try db.memory(Self.installedMemory).flatMap(Int64.init) }
    }

    /// Takes over a message of FCM.
    ///
    /// - Returns: Whether what the student sees may have changed; `nil` if it is another message.
    /// - Throws: `DatabaseError`, or why it cannot be read.
    func receive(_ message: PushMessage) async throws -> Bool? {
        switch try BroadcastPushData(message.data) {
        case nil: return nil
        case .withdrawal(let withdrawn): return try await take([], [withdrawn])
        case .broadcast(let broadcast):
            guard BroadcastPopup.isPart(broadcast, message.data) else {
                // Only a downtime's notification is also a card.
                guard message.notification == nil else { return nil }
                return try await take([broadcast], [])
            }
            let shown = message.notification.map { (title: $0.title, body: $0.body) }
            guard let part = BroadcastPopup.broadcast(broadcast, shown) else { return message.notification == nil ? false : nil }
            return try await take([part], [], arePartial: true)
        }
    }

    /// Takes over what came as pop-ups while the app did not run, and takes old pop-ups away.
    ///
    /// - Returns: Whether what the student sees may have changed.
    func takePopups() async throws -> Bool {
        var hasChanged = false
        for message in await platform.notifications.delivered() {
            // One of a later version of the hub stays a pop-up.
            let isNew = try? await receive(message)
            if isNew == true { hasChanged = true }
        }
        try await removeOldPopups()
        return hasChanged
    }

    /// Takes the pop-ups away whose broadcast is over or closed, or is known in a later version that says something else.
    func removeOldPopups() async throws {
        let now = clock.now
        for message in await platform.notifications.delivered() {
            guard let popup = message.notification, let tag = popup.tag, let id = BroadcastPopup.id(ofTag: tag),
                let known = try await database.db.read({ db in try BroadcastMemory.known(id, db) })
            else { continue }
            let isOld: Bool
            if case .broadcast(let part)? = try? BroadcastPushData(message.data) {
                let shown = BroadcastPopup.broadcast(part, (title: popup.title, body: popup.body))
                isOld = known.outdates(part.version, shown, at: now)
            } else {
                isOld = known.outdates(popup, at: now)
            }
            if isOld { await platform.notifications.remove(tag: tag) }
        }
    }

    /// Asks another server for its copy of the active broadcasts, after the hub has not answered.
    ///
    /// - Returns: Whether what the student sees may have changed. An invalid answer changes nothing, and broadcasts that an old copy lacks stay.
    /// - Throws: The error of the connection, or a `DatabaseError`.
    func refreshFromCopy() async throws -> Bool {
        guard let read = platform.readBroadcastCopy else { return false }
        let answer = try await clock.within(TimedHub.limit, read)
        guard answer.status == 200, let copy = try? JSONCoder.decode(BroadcastsFile.self, from: answer.body) else { return false }
        return try await take(copy.broadcasts, copy.withdrawn)
    }

    /// The channels about which the phone asks the hub.
    func channels() async throws -> [String] {
        let off = try await channelsOff()
        return try await subscriptions.subscribedChannels().filter { !off.contains($0) }
    }

    /// Shows a pop-up for each broadcast of the app that is due while the app is in the background, once. The card comes when the app
    /// is opened.
    func announceLocal() async throws {
        guard !platform.notifications.isAppInForeground else { return }
        let closed = try await database.db.read(BroadcastMemory.closedLocal)
        for card in try await localCards(language: platform.language(), at: clock.now, without: closed) {
            let isNew = try await database.db.write { db in
                let announced = try db.memory(Self.announcedMemory).map(Self.lines) ?? []
                guard !announced.contains(card.id) else { return false }
                try db.keep((announced + [card.id]).joined(separator: "\n"), as: Self.announcedMemory)
                return true
            }
            guard isNew else { continue }
            await platform.notifications.show(
                PushMessage.Notification(title: card.title, body: card.message), tag: "broadcast-\(card.id)", data: [:])
        }
    }

    /// Asks the hub for what is active.
    ///
    /// - Returns: Whether what the student sees may have changed.
    /// - Throws: ``HubFailure``, or the error of the connection. What was answered until then is taken over.
    func refresh(_ channels: [String]) async throws -> Bool {
        let questions = Self.questions(about: channels)
        let known = try await database.db.read { db in
            let asked = try db.memory(Self.askedMemory).map(Self.lines) ?? []
            let tags = try db.memory(Self.tagMemory).map(Self.lines) ?? []
            return Dictionary(zip(asked, tags)) { first, _ in first }
        }
        var tags: [String] = []
        var hasChanged = false
        for question in questions {
            let tag = known[question].flatMap { $0.isEmpty ? nil : $0 }
            let answer = try await hub.answer(
                to: HubRequest(.get, question, headers: tag.map { ["If-None-Match": $0] } ?? [:]))
            switch answer.status {
            case 304: tags.append(tag ?? "")
            case 200:
                guard let active: ActiveBroadcasts = try? JSONCoder.decode(from: answer.body) else {
                    throw HubFailure.unreadable(Self.path)
                }
                if try await take(active.broadcasts, active.withdrawn) { hasChanged = true }
                tags.append(answer.entityTag ?? "")
            default: throw HubFailure.refused(status: answer.status, path: Self.path)
            }
        }
        let answered = tags.joined(separator: "\n")
        try await database.db.write { db in
            try db.keep(questions.joined(separator: "\n"), as: Self.askedMemory)
            try db.keep(answered, as: Self.tagMemory)
        }
        return hasChanged
    }

    /// The paths of the requests for channels; one if there are none.
    private static func questions(about channels: [String]) -> [String] {
        guard !channels.isEmpty else { return [path] }
        return stride(from: 0, to: channels.count, by: maxChannels).map { begin in
            path + "?channel=" + channels[begin..<min(begin + maxChannels, channels.count)].joined(separator: ",")
        }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// - Parameter arePartial: Whether they are those of pop-ups.
    private func take(
        _ broadcasts: [PhoneBroadcast], _ withdrawn: [WithdrawnBroadcast], arePartial: Bool = false
    ) async throws -> Bool {
        let (arrivals, hasChanged) = try await database.db.write { db -> ([BroadcastArrival], Bool) in
            let additions = try broadcasts.map { ($0, try BroadcastMemory.add($0, isPartial: arePartial, db)) }
            let gone = try withdrawn.filter { try BroadcastMemory.withdraw($0, db) }
            let new = additions.filter { $0.1 == .new }.map(\.0)
            let arrivals =
                new.map { BroadcastArrival(id: $0.id, version: $0.version, isWithdrawn: false) }
                + gone.map { BroadcastArrival(id: $0.id, version: $0.version, isWithdrawn: true) }
            return (arrivals, !gone.isEmpty || additions.contains { $0.1 != .known })
        }
        arrivals.forEach(arrived)
        if !arrivals.isEmpty { try await removeOldPopups() }
        return hasChanged
    }

    /// The moments after a time at which broadcasts begin or end, in Unix milliseconds.
    func moments(after time: Int64) async throws -> [Int64] {
        let current = try await database.db.read { db in try BroadcastMemory.current(at: time, db) }
        var moments = current.flatMap { [$0.broadcast.starts.rawValue, $0.broadcast.expires.rawValue] }
        if !local.all.isEmpty, let installed = try await installed() {
            moments += local.all.compactMap(\.relativeTime).map { installed + Int64($0) * 3_600_000 }
        }
        return moments.filter { $0 > time }
    }
}

extension BroadcastMemory.Known {
    /// Whether a pop-up is out of date.
    ///
    /// - Parameters:
    ///   - version: The pop-up's.
    ///   - shown: What it shows; `nil` if this version of the app cannot tell.
    fileprivate func outdates(_ version: Int64, _ shown: PhoneBroadcast?, at now: Int64) -> Bool {
        guard version <= self.version else { return shown.map { $0.expires.rawValue <= now } ?? false }
        if isWithdrawn || isClosed || expires <= now { return true }
        guard version < self.version, let broadcast, let shown else { return false }
        // Of an edit that changes nothing in it there is no other pop-up.
        return !BroadcastPopup.isSame(broadcast, as: shown)
    }

    /// The same for a pop-up of which the system has the texts alone. It may be that of a later version, unless it says what is known.
    fileprivate func outdates(_ popup: PushMessage.Notification, at now: Int64) -> Bool {
        if isWithdrawn { return true }
        guard isClosed || expires <= now, let broadcast else { return false }
        let texts = broadcast.actionData.texts(in: broadcast.language, or: broadcast.language)
        return texts.map { $0.title == popup.title && $0.msg == popup.body } ?? false
    }
}
