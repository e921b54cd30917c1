/// What the app does in the background: it shows pop-ups, and stores data messages (seed module "Listener").
struct Listener: Sendable {
    private let fcm: FCMModule
    private let messages: Messages
    private let broadcasts: Broadcasts
    /// Called with each push to the person.
    private let personPush: @Sendable (PersonPush) -> Void
    /// Called after a message was stored or completed.
    private let changed: @Sendable () -> Void
    /// Called when a text is missing that the hub has.
    private let needsText: @Sendable () -> Void

    init(
        fcm: FCMModule, messages: Messages, broadcasts: Broadcasts, personPush: @escaping @Sendable (PersonPush) -> Void,
        changed: @escaping @Sendable () -> Void, needsText: @escaping @Sendable () -> Void
    ) {
        self.fcm = fcm
        self.messages = messages
        self.broadcasts = broadcasts
        self.personPush = personPush
        self.changed = changed
        self.needsText = needsText
    }

    /// Listens until the task is cancelled (seed: `listen`).
    ///
    /// - Parameter failed: Called if a message cannot be stored, such as on a full disk. It is fetched from the hub later.
    func listen(failed: @Sendable (any Error) -> Void) async {
        await fcm.listen(
            alert: { notification, data in
                if let push = PersonPush(data: data) {
                    await fcm.displayLocalNotification(notification, tag: notification.tag ?? push.tag, data: data)
                    return personPush(push)
                }
                do {
                    // The card says the same to a person who looks at the app.
                    if let isNew = try await broadcasts.receive(PushMessage(notification: notification, data: data)) {
                        if isNew { changed() }
                        return
                    }
                } catch {
                    // It comes from a later version of the hub, or the disk is full. The pop-up still shows its text.
                    failed(error)
                }
                do {
                    let msiKey = data["msi_key"] ?? ""
                    if !msiKey.isEmpty {
                        guard try await messages.beginPopup(msiKey) else { return }
                    }
                    await fcm.displayLocalNotification(notification, tag: notification.tag ?? msiKey, data: data)
                } catch {
                    failed(error)
                }
            },
            info: { data in
                if let push = PersonPush(data: data) { return personPush(push) }
                do {
                    // A message without the seed's fields is for another part of the app.
                    guard let message = StoredMessage(data: data) else {
                        if try await broadcasts.receive(PushMessage(data: data)) == true { changed() }
                        return
                    }
                    if try await messages.add(message) != .dropped { changed() }
                    if !message.omitted.isEmpty { needsText() }
                } catch {
                    failed(error)
                    needsText()
                }
            })
    }
}
