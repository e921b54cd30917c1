import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            "msi-message-log", "archives messages and sees to it that each reaches FCM.",
            settings: [
                Setting.databaseURL.declaration, Setting.messageLogListen.declaration, Setting.fcmRelayEndpoints.declaration,
                Setting.messageRetention.declaration, Setting.messageLogStorageLimit.declaration,
            ],
            wire: ServicePlan.messageLog)
    }
}
