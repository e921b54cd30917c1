import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(
            "msi-cube", "keeps the information cube: channels, their areas, their subjects.",
            settings: [
                Setting.databaseURL.declaration, Setting.cubeListen.declaration, Setting.cubeEventsListen.declaration,
                Setting.cubeSizeLimit.declaration,
            ],
            wire: ServicePlan.cube)
    }
}
