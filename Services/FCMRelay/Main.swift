import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            "msi-fcm-relay", "hands messages to Firebase Cloud Messaging.",
            settings: [
                Setting.fcmRelayListen.declaration, Setting.fcmServiceAccountFile.declaration,
                Setting.fcmServerKeyFile.declaration, Setting.fcmProjectsFile.declaration, Setting.fcmEndpoint.declaration,
                Setting.fcmTopicEndpoint.declaration, Setting.fcmCAFile.declaration,
                Setting.fcmTopicPayloadLimit.declaration, Setting.fcmQuota.declaration, Setting.fcmQuotaShare.declaration,
                Setting.fcmRamp.declaration, Setting.alertTTL.declaration, Setting.fcmInformationPriority.declaration,
            ],
            wire: ServicePlan.fcmRelay)
    }
}
