import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.messageLog, wire: ServicePlan.messageLog)
    }
}
